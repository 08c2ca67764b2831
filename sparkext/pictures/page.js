"use strict";
// Q-sets and queries that stand out when they are clicked, what the pointer is over, and finding queries.
for (const pass of document.querySelectorAll(".pass")) {
  const buttons = pass.querySelectorAll("button[data-set]");
  const strands = pass.querySelectorAll(".template .strand");
  const queries = pass.querySelectorAll(".query[data-query]");
  let chosen = null;

  const show = (next) => {
    chosen = next;
    const numbers = next === null ? [] : next.numbers;
    const isMeant = (strand) => {
      if (next.set !== null) return strand.dataset.set === next.set;
      return strand.dataset.queries.split(" ").some((number) => numbers.includes(number));
    };
    for (const strand of strands) strand.classList.toggle("dim", next === null ? false : !isMeant(strand));
    for (const query of queries) query.classList.toggle("lit", numbers.includes(query.dataset.query));
    for (const button of buttons) {
      const pressed = next === null ? false : next.set === button.dataset.set;
      button.setAttribute("aria-pressed", String(pressed));
    }
  };
  const choose = (key, set, numbers) => show(chosen?.key === key ? null : { key, set, numbers });

  for (const button of buttons) {
    button.addEventListener("click", () => {
      choose("set " + button.dataset.set, button.dataset.set, button.dataset.queries.split(" "));
    });
  }
  for (const strand of strands) {
    strand.addEventListener("click", (event) => {
      event.stopPropagation();
      const { set, queries: listed } = strand.dataset;
      choose(set === undefined ? "alone " + listed : "set " + set, set ?? null, listed.split(" "));
    });
  }
  for (const query of queries) {
    const number = query.querySelector(".number");
    number.addEventListener("click", (event) => {
      event.preventDefault();
      choose("query " + query.dataset.query, null, [query.dataset.query]);
    });
  }
  pass.querySelector(".picture")?.addEventListener("click", () => show(null));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(null);
  });
  pass.querySelector(".find")?.addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const query of pass.querySelectorAll(".query")) {
      query.classList.toggle("hidden", !query.textContent.toLowerCase().includes(wanted));
    }
  });
}

// Titles become a tip that follows the pointer at once, and the names of what they were titles of.
const tip = document.getElementById("tip");
for (const title of document.querySelectorAll("svg title")) {
  const about = title.parentNode;
  about.dataset.tip = title.textContent;
  about.setAttribute("aria-label", title.textContent);
  title.remove();
}
document.addEventListener("pointermove", (event) => {
  const about = event.target.closest?.("[data-tip]");
  tip.classList.toggle("shown", Boolean(about));
  if (!about) return;
  tip.textContent = about.dataset.tip;
  const left = Math.min(event.clientX + 16, window.innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18;
  const fits = window.innerHeight - tip.offsetHeight - 8 >= below;
  tip.style.left = Math.max(left, 8) + "px";
  tip.style.top = (fits ? below : Math.max(event.clientY - tip.offsetHeight - 12, 8)) + "px";
});
