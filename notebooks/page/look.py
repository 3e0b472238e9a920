"""Style and script of a page. Nothing is loaded: the browser's own fonts, no library."""

STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --soft: #55595f; --line: #d5d8dc; --back: #ffffff; --box: #f5f6f8; --link: #0a58a8; --warn: #9a3a00; --row: #eef3f9; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e7e9; --soft: #a9aeb5; --line: #3b4047; --back: #15171a; --box: #1f2226; --link: #8ab8ee; --warn: #ffab75; --row: #262c34; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; overflow-wrap: anywhere; }
main, header, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.75rem; }
h1 { font-size: 1rem; font-weight: 600; color: var(--soft); margin: 0; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.25rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { margin: .4rem 0; max-width: 48rem; }
.question { font-size: 1.1rem; color: var(--soft); }
.but { max-width: 56rem; margin: .3rem 0; }
.answer { font-size: clamp(1.35rem, 1rem + 1.6vw, 1.9rem); line-height: 1.25; font-weight: 650; margin: .7rem 0 .5rem; max-width: 56rem; text-wrap: balance; }
.soft, .none, .unit { color: var(--soft); }
.unit { font-weight: 400; white-space: nowrap; }
a { color: var(--link); }
.warnings { border-left: .25rem solid var(--warn); background: var(--box); padding: .1rem 1rem .7rem; margin-top: 1.5rem; }
.warnings h2 { margin: .6rem 0 .3rem; color: var(--warn); }
.warnings ul { margin: .3rem 0; }
ul { padding-left: 1.2rem; }
.scroll { overflow: auto; border: 1px solid var(--line); border-radius: .4rem; max-width: 100%; }
.tall { max-height: 85vh; }
:focus-visible { outline: .15rem solid var(--link); outline-offset: .1rem; }
figure { margin: 0; }
figure .scroll { background: #fff; padding: .5rem; width: fit-content; }
figure img { display: block; height: auto; max-width: max(100%, 34rem); }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .35rem; }
.bar { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0; }
.bar button { font: inherit; padding: .3rem .8rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--box); color: var(--text); cursor: pointer; }
.bar button[aria-pressed="true"] { background: var(--link); color: var(--back); }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; color: var(--soft); padding: .5rem .7rem; }
caption span { display: inline-block; position: sticky; left: .7rem; max-width: min(72rem, 100vw - 5rem); }
th, td { padding: .3rem .55rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); font-weight: 400; }
tbody th { min-width: 8rem; }
td.line, tbody th.line { white-space: nowrap; }
thead th { position: sticky; top: 0; background: var(--box); vertical-align: bottom; padding: 0; font-weight: 600; z-index: 1; box-shadow: 0 1px 0 var(--line); }
thead button { font: inherit; color: inherit; background: none; border: 0; width: 100%; padding: .4rem .55rem; text-align: inherit; cursor: pointer; }
thead th.plain { padding: .4rem .7rem; }
thead button::after { content: ""; display: inline-block; width: 0; }
th[aria-sort="ascending"] button::after { content: "\\2191"; }
th[aria-sort="descending"] button::after { content: "\\2193"; }
thead button:hover { color: var(--link); }
tbody tr:hover { background: var(--row); }
th.n, td.n { text-align: right; white-space: nowrap; min-width: 0; }
thead th.n { white-space: normal; min-width: 4rem; }
td.t { min-width: 18rem; max-width: 26rem; }
table.points:not(.all) .more { display: none; }
.mark { color: var(--warn); }
tr.failed { color: var(--warn); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.spaced { position: relative; }
.notes { padding-left: 2rem; }
.notes li { margin: .5rem 0; max-width: 56rem; }
.notes li:target { background: var(--row); }
dl { margin: .4rem 0; }
dt { font-weight: 600; margin-top: .6rem; }
dd { margin: 0; max-width: 56rem; }
@media (min-width: 40rem) {
  dl { display: grid; grid-template-columns: minmax(8rem, 16rem) 1fr; gap: .3rem 1rem; }
  dt { margin: 0; }
}
code { font: .9em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem; overflow: auto; }
details { margin: .8rem 0; }
summary { cursor: pointer; }
summary h2 { display: inline; }
footer { padding: 1rem 1.25rem 2.5rem; margin-top: 2.5rem; color: var(--soft); font-size: .9rem; }
@media (max-width: 40rem) {
  td.line:not(.n), tbody th.line:not(.n) { white-space: normal; }
}
@media print {
  .bar { display: none; }
  .scroll { overflow: visible; max-height: none; }
}
"""

# Columns that are hidden at first need the script's button.
WITHOUT_SCRIPT = "table.points:not(.all) .more { display: table-cell; } .bar { display: none; }"

SCRIPT = """
"use strict";
for (const table of document.querySelectorAll("table.points")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], told = document.getElementById("sorted");
  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.querySelector(".none") ? null : cell.textContent;
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, {numeric: true});
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending", sign = down ? -1 : 1;
    heads.forEach(other => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map(row => [key(row, column), row]);
    rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b));
    body.append(...rows.map(([, row]) => row));
    told.textContent = "sorted by " + head.textContent.trim() + (down ? ", largest first" : ", smallest first");
  }));
}
const all = document.getElementById("all-columns");
if (all) all.addEventListener("click", () => {
  const shown = document.querySelector("table.points").classList.toggle("all");
  all.setAttribute("aria-pressed", shown);
});
"""
