"use strict";
(() => {
  const text = (cell) => cell.dataset.sort ?? cell.textContent.trim();
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y) ? x - y : a.localeCompare(b);
  };
  for (const button of document.querySelectorAll("th button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const body = head.closest("table").tBodies[0];
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const column = head.cellIndex;
      const rows = [...body.rows].sort((a, b) => compare(text(a.cells[column]), text(b.cells[column])));
      body.append(...(down ? rows.reverse() : rows));
    });
  }
  for (const form of document.querySelectorAll(".filters")) {
    const rows = [...document.getElementById(form.dataset.for).tBodies[0].rows];
    const count = form.querySelector("output");
    const apply = () => {
      let shown = 0;
      const word = form.querySelector("input").value.trim().toLowerCase();
      const chosen = [...form.querySelectorAll("select")].filter((select) => select.value);
      for (const row of rows) {
        const fits = chosen.every((select) => row.dataset[select.name] === select.value);
        row.hidden = !(fits && row.textContent.toLowerCase().includes(word));
        if (!row.hidden) shown += 1;
      }
      count.textContent = `${shown} of ${rows.length}`;
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    apply();
  }
})();
