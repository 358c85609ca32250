"use strict";
// Builds the gallery out of text nodes alone: nothing that a model or a benchmark wrote is ever read as markup.
(() => {
  const byId = (id) => document.getElementById(id);
  const filters = byId("filters");
  if (!filters) return;
  filters.hidden = false;

  // --- data ---------------------------------------------------------------------------------------------------------

  const { runs, cards, pictures, statuses } = JSON.parse(byId("data").textContent);
  const OUTCOMES = { wrong: "✗ wrong", "no answer": "∅ no answer", open: "~ open-ended", right: "✓ right" };
  const ORDER = Object.keys(OUTCOMES);
  const DIFFERENT = "≠ runs differ";
  const BATCH = 48;
  cards.forEach((card, place) => { card.place = place; });

  function element(tag, className, ...content) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...content.filter((each) => each !== null && each !== undefined));
    return made;
  }

  const isUnread = (answer) => statuses.unread.includes(answer.status);
  const number = (value) => (100 * value).toFixed(1);

  function searchText(card) {
    const parts = [card.id, card.task, card.source, card.prompt, card.reference];
    for (const [, text] of [...card.facts, ...card.gold]) parts.push(text);
    for (const answer of card.answers) parts.push(answer.predicted, answer.explanation, answer.output);
    return parts.filter(Boolean).join("\n").toLowerCase();
  }

  // --- pictures -----------------------------------------------------------------------------------------------------

  function picture(card, shown, caption, boxes) {
    const figure = element("figure", shown.right ? "picture right" : "picture");
    const what = [shown.label && `image ${shown.label}`, shown.role, shown.right && "right"].filter(Boolean).join(", ");
    const found = pictures[shown.picture];
    let image;
    if (found) {
      image = element("img");
      image.alt = `${what || "picture"} of ${card.id}`;
      image.decoding = "async";
      Object.assign(image, found);  // src, width, height
    } else {
      image = element("span", "none", "no picture");
    }
    figure.append(boxes && found ? boxed(image, found, boxes) : image);
    const words = [caption ?? shown.label, shown.role, shown.right && "✓"].filter(Boolean).join(" · ");
    if (words) figure.append(element("figcaption", "", words));
    return figure;
  }

  function boxed(image, { width, height }, boxes) {
    const space = "http://www.w3.org/2000/svg";
    const drawing = document.createElementNS(space, "svg");
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.setAttribute("preserveAspectRatio", "none");
    drawing.setAttribute("aria-hidden", "true");
    for (const [kind, edges] of boxes) {
      const [left, top, right, bottom] = edges.map(Number);
      const box = document.createElementNS(space, "rect");
      const values = { x: left, y: top, width: right - left, height: bottom - top, class: kind };
      for (const [name, value] of Object.entries(values)) box.setAttribute(name, value);
      drawing.append(box);
    }
    return element("span", "boxed", image, drawing);
  }

  function strip(card, most, boxes) {
    const row = element("div", card.pictures.some((each) => each.label) ? "pictures several" : "pictures");
    for (const shown of card.pictures.slice(0, most)) row.append(picture(card, shown, null, boxes));
    const left = card.pictures.length - most;
    if (left > 0) row.append(element("span", "meta", `and ${left} more`));
    return row;
  }

  // --- cards --------------------------------------------------------------------------------------------------------

  const kind = (answer) => answer.outcome.replace(" ", "-");
  const badge = (answer) => element("span", `badge ${kind(answer)}`, OUTCOMES[answer.outcome] ?? answer.outcome);

  function pairs(found) {
    const definitions = element("dl", "facts");
    for (const [name, text] of found) {
      definitions.append(element("div", "", element("dt", "", name), element("dd", "", text)));
    }
    return definitions;
  }

  function head(answer) {
    const row = element("div", "head", element("bdi", "name", runs[answer.run]), badge(answer));
    row.append(element("bdi", "predicted", answer.predicted));
    if (typeof answer.score === "number") {
      row.append(element("span", "score", `${answer.score_name} `, element("b", "", number(answer.score))));
    }
    return row;
  }

  // What is right; its cell stands beside those of the runs.
  function reference(card) {
    if (!card.gold.length && !card.reference) return null;
    const row = element("div", "head", element("span", "name", "Reference"));
    const short = card.gold.length > 0 && !card.gold[0][1].includes("\n");
    if (short) row.append(element("span", "meta", card.gold[0][0]), element("bdi", "predicted", card.gold[0][1]));
    const left = short ? card.gold.slice(1) : card.gold;
    const words = card.reference ? element("p", "text", card.reference) : null;
    return element("section", "answer reference", row, words, left.length ? pairs(left) : null);
  }

  const reading = (answer) => (answer.rule ? `${answer.status} (rule ${answer.rule})` : answer.status);

  // A run's answer: its cell, to which `full` adds more.
  function answered(answer, words = answer.explanation) {
    const cell = element("section", `answer ${kind(answer)}`, head(answer));
    if (words) cell.append(element("p", "text", words));
    const parts = answer.said.filter(([, text]) => text !== answer.predicted);
    if (parts.length) cell.append(pairs(parts));
    return cell;
  }

  // A run's answer on the tile of its sample; of one that was not read all that the model wrote.
  function summarized(answer) {
    if (!isUnread(answer)) return answered(answer);
    const cell = answered(answer, answer.output);
    cell.querySelector(".head").after(element("p", "meta", reading(answer)));
    return cell;
  }

  const ASIDE = new Set(["phenomenon", "candidates"]);
  const facts = (card) => (card.facts.length ? card.facts : [["prompt", card.prompt]]);
  const told = (card) => facts(card).filter(([name]) => !ASIDE.has(name)).slice(0, 2);

  function tile(card) {
    const about = element("div", "about", element("div", "id", card.id));
    about.append(element("div", "meta", [card.task, card.source].filter(Boolean).join(" · ")));
    for (const [, text] of told(card)) about.append(element("p", "text fact", text));
    const shown = card.answers.filter((answer) => chosen.run === null || answer.run === chosen.run);
    const compared = element("div", "compared", reference(card), ...shown.map(summarized));
    const all = element("details", "whole", element("summary", "", "all of this sample"));
    all.addEventListener("toggle", () => {
      if (all.children.length === 1) all.append(...whole(card));
      compared.hidden = all.open;
    });
    about.append(compared, all);
    return element("li", "card", card.pictures.length ? strip(card, 4) : null, about);
  }

  // --- filter and sort ----------------------------------------------------------------------------------------------

  const list = byId("cards");
  const more = byId("more");
  let chosen = { run: null };
  let matching = [];
  let drawn = 0;

  function options(name, values, words = (value) => value) {
    const select = filters.elements[name];
    select.append(new Option("all", ""));
    for (const value of values) select.append(new Option(words(value), String(value)));
    select.disabled = values.length < 2;
  }

  const distinct = (values) => [...new Set(values)].filter(Boolean);
  const answers = cards.flatMap((card) => card.answers);
  options("task", distinct(cards.map((card) => card.task)));
  options("run", runs.map((_, place) => place), (place) => runs[place]);
  options("source", distinct(cards.map((card) => card.source)).sort());
  const outcomes = new Set(answers.map((answer) => answer.outcome));
  const differ = (card) => distinct(card.answers.map((answer) => `${answer.predicted}\n${answer.outcome}`)).length > 1;
  const different = cards.some(differ) ? [DIFFERENT] : [];
  options("outcome", [...ORDER.filter((outcome) => outcomes.has(outcome)), ...different], (outcome) => OUTCOMES[outcome] ?? outcome);
  options("status", distinct(answers.map((answer) => answer.status)).sort());

  function read() {
    const values = Object.fromEntries(new FormData(filters));
    return {
      text: values.text.trim().toLowerCase(),
      task: values.task ?? "",
      run: values.run ? Number(values.run) : null,
      source: values.source ?? "",
      outcome: values.outcome ?? "",
      status: values.status ?? "",
      sort: values.sort,
    };
  }

  // Answers that the filters are about: those of the chosen run, else all; one that fits is enough.
  const regarded = (card) => card.answers.filter((answer) => chosen.run === null || answer.run === chosen.run);

  function fits(answer) {
    if (chosen.outcome && chosen.outcome !== DIFFERENT && answer.outcome !== chosen.outcome) return false;
    return !chosen.status || answer.status === chosen.status;
  }

  function matches(card) {
    if (chosen.task && card.task !== chosen.task) return false;
    if (chosen.source && card.source !== chosen.source) return false;
    if (chosen.outcome === DIFFERENT && !differ(card)) return false;
    if (!regarded(card).some(fits)) return false;
    return !chosen.text || searchText(card).includes(chosen.text);
  }

  function meanScore(card) {
    const scores = regarded(card).map((answer) => answer.score).filter((score) => typeof score === "number");
    return scores.length ? scores.reduce((sum, score) => sum + score, 0) / scores.length : null;
  }

  const worst = (card) => Math.min(...regarded(card).map((answer) => ORDER.indexOf(answer.outcome)));
  const byScore = (sign) => (first, second) => {
    const [one, other] = [meanScore(first), meanScore(second)];
    return one === null || other === null ? (one === null) - (other === null) : sign * (one - other);
  };
  // Unread answers in words come first, then those without words.
  const readRank = (answer) => (isUnread(answer) ? Number(statuses.withoutWords.includes(answer.status)) : 2);
  const lowestRank = (card) => Math.min(...regarded(card).map(readRank));
  const SORTS = {
    unread: (first, second) => lowestRank(first) - lowestRank(second),
    "score-up": byScore(1),
    "score-down": byScore(-1),
    outcome: (first, second) => worst(first) - worst(second),
  };

  function draw(count) {
    const part = document.createDocumentFragment();
    const end = Math.min(drawn + count, matching.length);
    for (; drawn < end; drawn += 1) part.append(tile(matching[drawn]));
    list.append(part);
    more.hidden = drawn === matching.length;
  }

  function update() {
    chosen = read();
    matching = cards.filter(matches);
    if (SORTS[chosen.sort]) matching.sort((first, second) => SORTS[chosen.sort](first, second) || first.place - second.place);
    list.replaceChildren();
    drawn = 0;
    draw(BATCH);
    byId("count").textContent = `${matching.length} of ${cards.length} samples`;
  }

  let waiting = 0;
  filters.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(update, 80);
  });
  filters.addEventListener("reset", () => setTimeout(update));
  filters.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => draw(BATCH));

  // --- one sample ---------------------------------------------------------------------------------------------------

  // Pictures in the order of a run's values: what it ranked first, or which it chose.
  function judged(card, answer) {
    const order = card.pictures.map((_, place) => place);
    if (answer.ranked) order.sort((first, second) => answer.values[second] - answer.values[first] || Boolean(card.pictures[first].right) - Boolean(card.pictures[second].right));
    const row = element("div", "pictures several");
    order.forEach((place, rank) => {
      const shown = card.pictures[place];
      const words = [answer.ranked ? `${rank + 1}.` : shown.label];
      if (typeof answer.values?.[place] === "number") words.push(answer.values[place].toFixed(3));
      if (answer.chosen === place) words.push("chosen");
      const figure = picture(card, shown, words.join(" "));
      figure.classList.toggle("chosen", answer.chosen === place);
      row.append(figure);
    });
    return row;
  }

  function details(summary, text) {
    return element("details", "", element("summary", "", summary), element("pre", "text", text));
  }

  function full(card, answer) {
    const part = answered(answer);
    if (card.pictures.length > 1) part.append(judged(card, answer));
    const known = [];
    if (answer.status) known.push(["parse status", reading(answer)]);
    for (const [name, value] of Object.entries(answer.scores ?? {})) {
      known.push([name, typeof value === "number" ? number(value) : String(value)]);
    }
    if (known.length) part.append(pairs(known));
    if (answer.prompt) part.append(details("prompt of this run", answer.prompt));
    part.append(details("raw output", answer.output));
    return part;
  }

  function whole(card) {
    const boxes = (card.boxes ?? []).map((edges) => ["truth", edges]);
    for (const answer of card.answers) for (const edges of answer.boxes ?? []) boxes.push(["found", edges]);
    const right = reference(card);
    const shown = card.pictures.length > 1 ? card.pictures.filter((each) => each.right) : [];
    if (right && shown.length) right.append(strip({ ...card, pictures: shown }, shown.length));
    const words = element("p", "meta", "Boxes: dashed are annotated, solid were found by the runs.");
    const drawing = boxes.length ? [words, strip(card, 1, boxes)] : [];
    const compared = element("div", "compared", right, ...card.answers.map((answer) => full(card, answer)));
    return [pairs(facts(card)), ...drawing, compared, details("full prompt", card.prompt)];
  }

  update();
})();
