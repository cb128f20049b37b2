// A search box and filters above each table inside <div class="filtered">. Without this the table is whole.
(() => {
  const words = (text) => text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const values = (cell) => cell.textContent.split(",").map((value) => value.trim()).filter((value) => value && value !== "-");

  function control(kind, label) {
    const made = document.createElement(kind);
    made.setAttribute("aria-label", label);
    return made;
  }

  function select(rows, column, title) {
    const found = control("select", title);
    found.add(new Option(`${title}: any`, ""));
    const all = new Set(rows.flatMap((row) => values(row.cells[column])));
    for (const value of [...all].sort()) found.add(new Option(`${title}: ${value}`, value));
    return found;
  }

  function enhance(block) {
    const table = block.querySelector("table");
    if (!table || block.querySelector(".filters")) return;
    const rows = [...table.tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    const wanted = (block.dataset.filters || "").split(",").filter(Boolean);
    const bar = document.createElement("div");
    bar.className = "filters";
    const search = control("input", "Search");
    search.type = "search";
    search.placeholder = "Search";
    const filters = wanted.map((title) => [titles.indexOf(title), select(rows, titles.indexOf(title), title)]);
    const count = document.createElement("output");
    bar.append(search, ...filters.map(([, found]) => found), count);
    block.prepend(bar);

    function apply() {
      const asked = words(search.value);
      let shown = 0;
      rows.forEach((row, index) => {
        const fits = asked.every((word) => texts[index].includes(word))
          && filters.every(([column, found]) => !found.value || values(row.cells[column]).includes(found.value));
        row.hidden = !fits;
        shown += fits;
      });
      count.textContent = `${shown} of ${rows.length}`;
    }

    bar.addEventListener("input", apply);
    const asked = new URLSearchParams(location.search).get("find");
    if (asked) search.value = asked;
    apply();
  }

  document.querySelectorAll(".filtered").forEach(enhance);
})();
