// Order of search results: pages for users first, then theory, then what concerns the project itself.
var Scorer = {
  score: ([docname, title, anchor, description, score]) => {
    const weights = [
      [/^(guides|start)\//, 1.4],
      [/^(faq|why|troubleshooting|cheat-sheet|statisticians|index)$/, 1.4],
      [/^reference\/changelog$/, 0.05],
      [/^reference\/versions$/, 0.3],
      [/^theory\//, 0.5],
      [/^project\//, 0.2],
    ];
    const found = weights.find(([pages]) => pages.test(docname));
    return found ? score * found[1] : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
