// @ts-check
// Names beside points, without overlaps: each tries a few places around its point and takes the freest, in the order given.
// A name that fits nowhere is left out, because two names on top of each other are worth less than one.

const DISTANCES = [6, 15, 28, 46, 70], NEAR = 15, FARTHEST = 70, GAP = 4;
const ANGLES = [40, 140, -40, -140, 15, 165, -15, -165, 75, 105, -75, -105].map((angle) => [Math.cos(angle * Math.PI / 180), -Math.sin(angle * Math.PI / 180)]);
const COST_OF_LINE = 15, COST_OF_MARKER = 75, COST_OF_MISTAKE = 40, MOST_CROSSED = 0.5;

/** @typedef {[number, number, number, number]} Box  left, top, right, bottom, in pixels */
/** @typedef {{text: string, x: number, y: number, width: number, height: number, dispensable: boolean, marker: Box}} Label */

/** @param {Box} a @param {Box} b */
const overlaps = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

/** How far two boxes are from each other. @param {Box} a @param {Box} b */
const apart = (a, b) => Math.hypot(Math.max(a[0] - b[2], b[0] - a[2], 0), Math.max(a[1] - b[3], b[1] - a[3], 0));

/** How far a line, given as a thin box, runs through a box: 0 not at all, 1 from side to side. @param {Box} box @param {Box} line */
function crossing(box, line) {
  const across = (Math.min(box[2], line[2]) - Math.max(box[0], line[0])) / (box[2] - box[0]);
  if (across <= 0) return 0;
  const down = (Math.min(box[3], line[3]) - Math.max(box[1], line[1])) / (box[3] - box[1]);
  return down <= 0 ? 0 : Math.min(Math.max(across, down), 1);
}

/**
 * Where to write each label: the middle of its text, and whether a line leads back to its point; null for nowhere.
 * @param {Label[]} labels @param {Box} frame @param {Box[]} markers @param {Box[]} lines @param {boolean} crowded
 * @returns {({x: number, y: number, leader: boolean}|null)[]}
 */
export function place(labels, frame, markers, lines, crowded) {
  /** @type {Box[]} */
  const taken = [];
  return labels.map((label) => {
    let best = /** @type {{cost: number, distance: number, box: Box}|null} */ (null);
    const halfWide = label.width / 2, halfHigh = label.height / 2;
    const reach = FARTHEST + label.width, nearby = (each) => each[0] < label.x + reach && each[2] > label.x - reach && each[1] < label.y + FARTHEST + 30 && each[3] > label.y - FARTHEST - 30;
    const others = markers.filter((each) => each !== label.marker && nearby(each)), crossings = lines.filter(nearby);
    for (const distance of DISTANCES) {
      if (best && distance >= best.cost) break;  // nothing farther can be better
      if (crowded && label.dispensable && distance > NEAR) break;
      for (const [right, down] of ANGLES) {
        const x = label.x + right * distance + halfWide * Math.max(-1, Math.min(1, 2 * right));
        const y = label.y + down * distance + halfHigh * Math.max(-1, Math.min(1, 2 * down));
        /** @type {Box} */
        const box = [x - halfWide, y - halfHigh, x + halfWide, y + halfHigh];
        if (box[0] < frame[0] || box[1] < frame[1] || box[2] > frame[2] || box[3] > frame[3]) continue;
        if (taken.some((each) => overlaps(box, each))) continue;
        let hidden = 0, crossed = 0;
        for (const each of others) if (overlaps(box, each)) hidden += 1;
        if (crowded && hidden) continue;
        let cost = distance + COST_OF_MARKER * hidden;
        for (const each of crossings) {
          if (best && cost + COST_OF_LINE * crossed >= best.cost) break;
          crossed += crossing(box, each);
        }
        if (crowded && label.dispensable && crossed > MOST_CROSSED) continue;
        cost += COST_OF_LINE * crossed;
        if (best && cost >= best.cost) continue;
        // A name that is nearer to another point would be taken for that one's.
        const own = apart(box, label.marker) + 3;
        if (others.some((each) => apart(box, each) < own)) cost += COST_OF_MISTAKE;
        if (!best || cost < best.cost) best = { cost, distance, box };
      }
    }
    if (!best) return null;
    const [left, top, right, bottom] = best.box;
    taken.push([left - GAP, top, right + GAP, bottom]);
    return { x: (left + right) / 2, y: (top + bottom) / 2, leader: best.distance > NEAR };
  });
}

const widths = new Map();
let pen = /** @type {CanvasRenderingContext2D|null} */ (null);

/** How wide a text is, in pixels. @param {string} text @param {string} font */
export function widthOf(text, font) {
  const key = `${font}|${text}`;
  let found = widths.get(key);
  if (found === undefined) {
    pen ??= document.createElement("canvas").getContext("2d");
    if (!pen) return text.length * 7;
    pen.font = font;
    found = pen.measureText(text).width;
    widths.set(key, found);
  }
  return found;
}

/** At most so many letters: the middle goes, because long names often differ at the end. @param {string} text @param {number} most */
export function cut(text, most) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const room = most - 1, behind = room >> 1;
  return `${letters.slice(0, room - behind).join("")}…${letters.slice(letters.length - behind).join("")}`;
}
