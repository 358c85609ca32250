"use strict";
// Sorts and filters the rows that are in the page; without this script all rows are there, by rank.
(() => {
  const filters = document.getElementById("filters");
  const count = document.getElementById("count");
  const rows = [...document.querySelectorAll("tr.run, tr.published")];
  filters.hidden = false;

  // --- sorting ---

  // The value that a row is sorted by; null comes last in both directions.
  function sortValue(row, column, kind) {
    const text = row.cells[column].dataset.value;
    if (!text) return null;
    return kind === "text" ? text.toLowerCase() : Number(text);
  }

  function compare(first, second) {
    if (typeof first === "string") return first.localeCompare(second, "en");
    return first - second;
  }

  function sort(button) {
    const heading = button.closest("th");
    const table = button.closest("table");
    const { kind } = button.dataset;
    const current = heading.getAttribute("aria-sort");
    // Numbers are first sorted with the largest on top, ranks and texts with the first on top.
    let direction = kind === "number" ? "descending" : "ascending";
    if (current === direction) direction = direction === "descending" ? "ascending" : "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction);

    const sign = direction === "descending" ? -1 : 1;
    const body = table.tBodies[0];
    const keyed = [...body.rows].filter((row) => row.cells.length > 1)
      .map((row) => ({ row, value: sortValue(row, heading.cellIndex, kind) }));
    keyed.sort((a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
      return sign * compare(a.value, b.value);
    });
    body.append(...keyed.map(({ row }) => row));
  }

  for (const button of document.querySelectorAll("button.sort")) {
    button.addEventListener("click", () => sort(button));
  }

  // --- filters ---

  function hasSize(row, range) {
    if (!range) return true;
    const size = row.dataset.size;
    if (range === "unknown") return !size;
    const [from, below] = range.split("-").map(Number);
    return Boolean(size) && Number(size) >= from && Number(size) < below;
  }

  function isShown(row, { text, size, since, scorer, published }) {
    const words = `${row.cells[0].textContent} ${row.lastElementChild.textContent} ${row.dataset.text ?? ""}`;
    if (!words.toLowerCase().includes(text.trim().toLowerCase())) return false;
    // Published results have no date, size or scorer of a run: the other filters are about runs.
    if (row.classList.contains("published")) return published !== "hide";
    if (!hasSize(row, size)) return false;
    if (since && !(row.dataset.date >= since)) return false;
    return !scorer || row.dataset.scorer.split("\n").includes(scorer);
  }

  function filter() {
    const values = Object.fromEntries(new FormData(filters));
    const isFiltering = Object.values(values).some(Boolean);
    let hiddenRows = 0;
    for (const row of rows) {
      row.hidden = !isShown(row, values);
      if (row.hidden) hiddenRows += 1;
    }
    count.textContent = isFiltering ? `${hiddenRows} rows are hidden. Ranks and letters are those of all runs.` : "";
  }

  filters.addEventListener("input", filter);
  filters.addEventListener("reset", () => setTimeout(filter));
  filters.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
