"use strict";
(function () {
  const box = document.getElementById("search");
  if (!box) return;
  const entries = Array.from(document.querySelectorAll("#datasets > li"));
  const found = document.getElementById("found");
  const plain = (text) => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const texts = entries.map((entry) => plain(entry.dataset.search || ""));
  const show = () => {
    const words = plain(box.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    entries.forEach((entry, at) => {
      const fits = words.every((word) => texts[at].includes(word));
      entry.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    const all = entries.length === 1 ? "1 dataset" : entries.length + " datasets";
    found.textContent = words.length ? shown + " of " + all : all;
  };
  box.closest("[role=search]").hidden = false;
  box.value = new URLSearchParams(location.search).get("q") || "";
  box.addEventListener("input", show);
  show();
})();
