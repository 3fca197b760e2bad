"use strict";
/* Sorting and filtering of tables, and tooltips that follow the pointer. The page is complete without it. */
(() => {
  const order = (row, column) => {
    const cell = row.cells[column];
    const key = cell.dataset.k ?? cell.textContent.replace(/,/g, "");
    const value = Number.parseFloat(key);
    return Number.isNaN(value) || !/^[-−+\d.]/.test(key) ? cell.textContent : value;
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
    return typeof a === "number" ? -1 : 1;
  };
  const sort = (table, head, column) => {
    const rising = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].sort((a, b) => compare(order(a, column), order(b, column)));
    table.tBodies[0].append(...(rising ? rows : rows.reverse()));
  };
  for (const table of document.querySelectorAll("table")) {
    if (!table.tHead || table.tBodies[0].rows.length < 3) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.setAttribute("aria-sort", "none");
      head.tabIndex = 0;
      head.title = "Sort by this column";
      head.addEventListener("click", () => sort(table, head, column));
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(table, head, column); });
    });
    if (!table.dataset.filter) continue;
    const field = document.createElement("input");
    field.type = "search";
    field.className = "filter";
    field.placeholder = "Filter rows, e.g. mlkem768 aes";
    field.setAttribute("aria-label", `Filter: ${table.caption.textContent}`);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    table.parentElement.before(field);
  }
  const hover = document.createElement("div");
  hover.id = "hover";
  document.body.append(hover);
  for (const mark of document.querySelectorAll(".tip")) {
    const title = mark.querySelector(":scope > title");
    if (!title) continue;
    const text = title.textContent;
    mark.setAttribute("aria-label", text);
    title.remove();
    mark.addEventListener("pointermove", (event) => {
      hover.textContent = text;
      hover.style.display = "block";
      hover.style.left = `${Math.max(6, Math.min(event.clientX + 12, innerWidth - hover.offsetWidth - 6))}px`;
      hover.style.top = `${Math.max(6, event.clientY - hover.offsetHeight - 12)}px`;
    });
    mark.addEventListener("pointerleave", () => { hover.style.display = "none"; });
  }
})();
