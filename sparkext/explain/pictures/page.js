"use strict";

// A picture that is made smaller and larger around a point of its box, at first as wide as that.
const zooming = (pass, box) => {
  const svg = box.querySelector("svg");
  const { width, height } = svg.viewBox.baseVal;
  const fitting = () => Math.min(1, box.clientWidth / width);
  let scale = 1;
  let fits = true;
  const zoom = (wanted, x = box.clientWidth / 2, y = box.clientHeight / 2) => {
    const next = Math.min(Math.max(wanted, fitting() / 2, 0.05), 4);
    const [left, top] = [((box.scrollLeft + x) * next) / scale - x, ((box.scrollTop + y) * next) / scale - y];
    scale = next;
    svg.setAttribute("width", width * scale);
    svg.setAttribute("height", height * scale);
    box.scrollTo(left, top);
    pass.querySelector(".tools output").textContent = Math.round(100 * scale) + " %";
  };
  const how = {
    smaller: () => zoom(scale / 1.25),
    larger: () => zoom(scale * 1.25),
    fit: () => zoom(fitting()),
    full: () => zoom(1),
  };
  const change = (name) => {
    fits = name === "fit";
    how[name]();
  };
  for (const button of pass.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => change(button.dataset.zoom));
  }
  box.tabIndex = 0;
  box.addEventListener("keydown", (event) => {
    const name = { "-": "smaller", "+": "larger", "=": "larger", 0: "fit", 1: "full" }[event.key];
    if (!name || event.ctrlKey || event.metaKey) return;
    change(name);
  });
  const wheel = (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    fits = false;
    const { left, top } = box.getBoundingClientRect();
    zoom(scale * 1.002 ** -event.deltaY, event.clientX - left, event.clientY - top);
  };
  box.addEventListener("wheel", wheel, { passive: false });
  window.addEventListener("resize", () => {
    if (fits) how.fit();
  });
  how.fit();
};

// Scrolls a box, and nothing around it, so that something in it is in the middle.
const bring = (box, what) => {
  if (!box || !what) return;
  const [around, inner] = [box.getBoundingClientRect(), what.getBoundingClientRect()];
  box.scrollBy(
    inner.left + inner.width / 2 - around.left - around.width / 2,
    inner.top + inner.height / 2 - around.top - around.height / 2,
  );
};

// Q-sets and queries that stand out when they are clicked, and finding queries.
for (const pass of document.querySelectorAll(".pass")) {
  const box = pass.querySelector(".picture");
  if (box) zooming(pass, box);
  const every = pass.querySelector(".every");
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
    every?.classList.toggle("hidden", next === null);
    for (const query of queries) query.classList.toggle("lit", numbers.includes(query.dataset.query));
    for (const button of buttons) {
      const pressed = next === null ? false : next.set === button.dataset.set;
      button.setAttribute("aria-pressed", String(pressed));
    }
  };
  const choose = (key, set, numbers) => {
    show(chosen?.key === key ? null : { key, set, numbers });
    bring(pass.querySelector(".queries"), pass.querySelector(".query.lit"));
  };
  const bringPicture = () => {
    if (chosen === null) return;
    const left = (strand) => strand.getBoundingClientRect().left;
    const marked = [...strands].filter((strand) => !strand.classList.contains("dim"));
    bring(box, marked.sort((one, other) => left(one) - left(other))[0]);
    box.scrollIntoView({ block: "nearest" });
  };

  for (const button of buttons) {
    button.addEventListener("click", () => {
      choose("set " + button.dataset.set, button.dataset.set, button.dataset.queries.split(" "));
      bringPicture();
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
      bringPicture();
    });
  }
  box?.addEventListener("click", () => show(null));
  every?.addEventListener("click", () => show(null));
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
