// @ts-check
// A drawing as a file: SVG with its colours written into it, or the same as a bitmap.

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linejoin", "font", "font-variant-numeric", "text-anchor", "visibility", "display", "paint-order"];

/** The drawing with all its styles, on its ground. @param {any} drawing @param {string} title */
export function asText(drawing, title) {
  const copy = drawing.cloneNode(true), from = drawing.querySelectorAll("*"), to = copy.querySelectorAll("*");
  const box = drawing.viewBox.baseVal, ground = getComputedStyle(drawing.closest(".card") ?? document.body).backgroundColor;
  from.forEach((node, at) => {
    const style = getComputedStyle(node), into = to[at];
    if (style.visibility === "hidden" || style.display === "none") { into.setAttribute("data-gone", ""); return; }
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value) into.style.setProperty(name, value);
    }
    for (const name of ["class", "role", "tabindex", "aria-pressed", "aria-label"]) into.removeAttribute(name);
  });
  for (const gone of copy.querySelectorAll("[data-gone]")) gone.remove();
  const document_ = drawing.ownerDocument, rect = document_.createElementNS(copy.namespaceURI, "rect"), named = document_.createElementNS(copy.namespaceURI, "title");
  named.textContent = title;
  for (const [name, value] of Object.entries({ width: box.width, height: box.height, fill: ground })) rect.setAttribute(name, value);
  copy.prepend(named, rect);
  for (const name of ["class", "role", "aria-label", "id"]) copy.removeAttribute(name);
  copy.setAttribute("xmlns", copy.namespaceURI);
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  return new XMLSerializer().serializeToString(copy);
}

/** Hand a file to the reader. @param {Blob} blob @param {string} name */
export function give(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {any} drawing @param {string} name @param {string} title */
export const saveSvg = (drawing, name, title) => give(new Blob([asText(drawing, title)], { type: "image/svg+xml" }), `${name}.svg`);

/** At twice the size on screen, for print. @param {any} drawing @param {string} name @param {string} title */
export async function savePng(drawing, name, title) {
  const box = drawing.viewBox.baseVal, image = new Image(), canvas = document.createElement("canvas");
  image.src = `data:image/svg+xml,${encodeURIComponent(asText(drawing, title))}`;
  await image.decode();
  canvas.width = 2 * box.width;
  canvas.height = 2 * box.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => { if (blob) give(blob, `${name}.png`); }, "image/png");
}
