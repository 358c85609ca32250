"use strict";
// Builds the gallery out of text nodes alone: nothing that a model or a benchmark wrote is ever read as markup.
(() => {
  const byId = (id) => document.getElementById(id);
  const filters = byId("filters");
  if (!filters) return;
  filters.hidden = false;

  // --- data ---------------------------------------------------------------------------------------------------------

  const { runs, cards, pictures, statuses, buckets } = JSON.parse(byId("data").textContent);
  const OUTCOMES = { wrong: "✗ wrong", "no answer": "∅ no answer", open: "~ open-ended", right: "✓ right" };
  const ORDER = Object.keys(OUTCOMES);
  const DIFFERENT = "≠ runs differ";
  const BATCH = 48;
  cards.forEach((card, position) => { card.position = position; });

  function element(tag, className, ...content) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...content.filter((child) => child !== null && child !== undefined));
    return node;
  }

  const isUnread = (answer) => statuses.unread.includes(answer.status);
  const percent = (share) => (100 * share).toFixed(1);

  function searchText(card) {
    const parts = [card.id, card.task, card.source, card.prompt, card.reference];
    for (const [, text] of [...card.facts, ...card.gold]) parts.push(text);
    for (const answer of card.answers) parts.push(answer.predicted, answer.explanation, answer.output);
    return parts.filter(Boolean).join("\n").toLowerCase();
  }

  // --- pictures -----------------------------------------------------------------------------------------------------

  // A picture of a card with its label and role; `data` is what the card says of it.
  function picture(card, data, caption, boxes) {
    const figure = element("figure", data.right ? "picture right" : "picture");
    const description = [data.label && `image ${data.label}`, data.role, data.right && "right"].filter(Boolean).join(", ");
    const thumbnail = pictures[data.picture];
    let image;
    if (thumbnail) {
      image = element("img");
      image.alt = `${description || "picture"} of ${card.id}`;
      image.decoding = "async";
      Object.assign(image, thumbnail);  // src, width, height
    } else {
      image = element("span", "none", "no picture");
    }
    figure.append(boxes && thumbnail ? boxed(image, thumbnail, boxes) : image);
    const words = [caption ?? data.label, data.role, data.right && "✓"].filter(Boolean).join(" · ");
    if (words) figure.append(element("figcaption", "", words));
    return figure;
  }

  // An image with boxes drawn over it.
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

  // The first pictures of a card, `limit` at most.
  function pictureRow(card, limit, boxes) {
    const row = element("div", card.pictures.some((data) => data.label) ? "pictures several" : "pictures");
    for (const data of card.pictures.slice(0, limit)) row.append(picture(card, data, null, boxes));
    const hidden = card.pictures.length - limit;
    if (hidden > 0) row.append(element("span", "meta", `and ${hidden} more`));
    return row;
  }

  // --- cards --------------------------------------------------------------------------------------------------------

  const outcomeClass = (answer) => answer.outcome.replace(" ", "-");
  const badge = (answer) => element("span", `badge ${outcomeClass(answer)}`, OUTCOMES[answer.outcome] ?? answer.outcome);

  function definitionList(facts) {
    const definitions = element("dl", "facts");
    for (const [name, text] of facts) {
      definitions.append(element("div", "", element("dt", "", name), element("dd", "", text)));
    }
    return definitions;
  }

  // The first line of an answer's cell: run, outcome, what was read, score.
  function answerHead(answer) {
    const row = element("div", "head", element("bdi", "name", runs[answer.run]), badge(answer));
    row.append(element("bdi", "predicted", answer.predicted));
    if (typeof answer.score === "number") {
      row.append(element("span", "score", `${answer.score_name} `, element("b", "", percent(answer.score))));
    }
    return row;
  }

  // The right answer; its cell stands beside those of the runs.
  function reference(card) {
    if (!card.gold.length && !card.reference) return null;
    const row = element("div", "head", element("span", "name", "Reference"));
    const isShort = card.gold.length > 0 && !card.gold[0][1].includes("\n");  // the first text stands in the head
    if (isShort) row.append(element("span", "meta", card.gold[0][0]), element("bdi", "predicted", card.gold[0][1]));
    const otherGold = isShort ? card.gold.slice(1) : card.gold;
    const words = card.reference ? element("p", "text", card.reference) : null;
    return element("section", "answer reference", row, words, otherGold.length ? definitionList(otherGold) : null);
  }

  const readingText = (answer) => (answer.rule ? `${answer.status} (rule ${answer.rule})` : answer.status);

  // A run's answer, to which `answerDetails` adds more.
  function answerCell(answer, words = answer.explanation) {
    const cell = element("section", `answer ${outcomeClass(answer)}`, answerHead(answer));
    if (words) cell.append(element("p", "text", words));
    const otherTexts = answer.said.filter(([, text]) => text !== answer.predicted);
    if (otherTexts.length) cell.append(definitionList(otherTexts));
    return cell;
  }

  // A run's answer on a closed card; an unread answer shows all that the model wrote.
  function answerSummary(answer) {
    if (!isUnread(answer)) return answerCell(answer);
    const cell = answerCell(answer, answer.output);
    cell.querySelector(".head").after(element("p", "meta", readingText(answer)));
    return cell;
  }

  const MINOR_FACTS = new Set(["phenomenon", "candidates"]);
  const facts = (card) => (card.facts.length ? card.facts : [["prompt", card.prompt]]);
  const mainFacts = (card) => facts(card).filter(([name]) => !MINOR_FACTS.has(name)).slice(0, 2);

  // A card as a list item: closed it shows the main facts and answers, open everything.
  function cardItem(card) {
    const about = element("div", "about", element("div", "id", card.id));
    about.append(element("div", "meta", [card.task, card.source].filter(Boolean).join(" · ")));
    for (const [, text] of mainFacts(card)) about.append(element("p", "text fact", text));
    const summary = element("div", "compared", reference(card), ...selectedAnswers(card).map(answerSummary));
    const details = element("details", "whole", element("summary", "", "all of this sample"));
    details.addEventListener("toggle", () => {
      if (details.children.length === 1) details.append(...cardDetails(card));
      summary.hidden = details.open;
    });
    about.append(summary, details);
    return element("li", "card", card.pictures.length ? pictureRow(card, 4) : null, about);
  }

  // --- filter and sort ----------------------------------------------------------------------------------------------

  const list = byId("cards");
  const more = byId("more");
  let selection = { run: null };  // the values of the filters
  let matching = [];
  let drawn = 0;

  function fillSelect(name, values, text = (value) => value) {
    const select = filters.elements[name];
    select.append(new Option("all", ""));
    for (const value of values) select.append(new Option(text(value), String(value)));
    select.disabled = values.length < 2;
  }

  const distinct = (values) => [...new Set(values)].filter(Boolean);
  const answers = cards.flatMap((card) => card.answers);
  fillSelect("task", distinct(cards.map((card) => card.task)));
  fillSelect("run", runs.map((_, number) => number), (number) => runs[number]);
  fillSelect("source", distinct(cards.map((card) => card.source)).sort());
  const outcomes = new Set(answers.map((answer) => answer.outcome));
  const runsDiffer = (card) => distinct(card.answers.map((answer) => `${answer.predicted}\n${answer.outcome}`)).length > 1;
  const different = cards.some(runsDiffer) ? [DIFFERENT] : [];
  fillSelect("outcome", [...ORDER.filter((outcome) => outcomes.has(outcome)), ...different], (outcome) => OUTCOMES[outcome] ?? outcome);
  fillSelect("status", distinct(answers.map((answer) => answer.status)).sort());
  const bucketSelect = filters.elements.bucket;  // only on a page of two runs
  if (bucketSelect) fillSelect("bucket", buckets);

  // How many rows of the selected task each bucket has, beside its name.
  function countBuckets() {
    const ofTask = cards.filter((card) => !selection.task || card.task === selection.task);
    for (const option of bucketSelect?.options ?? []) {
      if (!option.value) continue;
      option.text = `${option.value} (${ofTask.filter((card) => card.bucket === option.value).length})`;
    }
  }

  function readFilters() {
    const values = Object.fromEntries(new FormData(filters));
    return {
      text: values.text.trim().toLowerCase(),
      task: values.task ?? "",
      run: values.run ? Number(values.run) : null,
      source: values.source ?? "",
      outcome: values.outcome ?? "",
      status: values.status ?? "",
      bucket: values.bucket ?? "",
      sort: values.sort,
    };
  }

  // The answers of the selected run, or of all runs; a card matches if one of them does.
  const selectedAnswers = (card) => card.answers.filter((answer) => selection.run === null || answer.run === selection.run);

  function answerMatches(answer) {
    if (selection.outcome && selection.outcome !== DIFFERENT && answer.outcome !== selection.outcome) return false;
    return !selection.status || answer.status === selection.status;
  }

  function cardMatches(card) {
    if (selection.task && card.task !== selection.task) return false;
    if (selection.source && card.source !== selection.source) return false;
    if (selection.bucket && card.bucket !== selection.bucket) return false;
    if (selection.outcome === DIFFERENT && !runsDiffer(card)) return false;
    if (!selectedAnswers(card).some(answerMatches)) return false;
    return !selection.text || searchText(card).includes(selection.text);
  }

  function meanScore(card) {
    const scores = selectedAnswers(card).map((answer) => answer.score).filter((score) => typeof score === "number");
    return scores.length ? scores.reduce((sum, score) => sum + score, 0) / scores.length : null;
  }

  const worstOutcome = (card) => Math.min(...selectedAnswers(card).map((answer) => ORDER.indexOf(answer.outcome)));
  const byScore = (sign) => (first, second) => {
    const firstScore = meanScore(first);
    const secondScore = meanScore(second);
    if (firstScore === null || secondScore === null) return (firstScore === null) - (secondScore === null);  // last
    return sign * (firstScore - secondScore);
  };
  // 0 for an unread answer in words, 1 for one without words, 2 for an answer that was read: the lowest come first.
  const unreadRank = (answer) => (isUnread(answer) ? Number(statuses.withoutWords.includes(answer.status)) : 2);
  const lowestUnreadRank = (card) => Math.min(...selectedAnswers(card).map(unreadRank));
  const SORTS = {
    unread: (first, second) => lowestUnreadRank(first) - lowestUnreadRank(second),
    "score-up": byScore(1),
    "score-down": byScore(-1),
    outcome: (first, second) => worstOutcome(first) - worstOutcome(second),
  };

  function draw(count) {
    const fragment = document.createDocumentFragment();
    const end = Math.min(drawn + count, matching.length);
    for (; drawn < end; drawn += 1) fragment.append(cardItem(matching[drawn]));
    list.append(fragment);
    more.hidden = drawn === matching.length;
  }

  function update() {
    selection = readFilters();
    matching = cards.filter(cardMatches);
    if (SORTS[selection.sort]) matching.sort((first, second) => SORTS[selection.sort](first, second) || first.position - second.position);
    list.replaceChildren();
    drawn = 0;
    draw(BATCH);
    countBuckets();
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

  // --- links to a bucket of a task: #vflute:both-wrong --------------------------------------------------------------

  let isLinked = false;  // whether a link set the filters

  function followFragment() {
    const [, task, name] = location.hash.match(/^#(.+):([a-z-]+)$/) ?? [];
    const bucket = buckets.find((candidate) => candidate.replace(" ", "-") === name);
    if (!bucketSelect || (!bucket && !isLinked)) return;
    isLinked = Boolean(bucket);
    filters.reset();
    if (bucket) {
      filters.elements.task.value = decodeURIComponent(task);
      bucketSelect.value = bucket;
      byId("gallery").scrollIntoView();
    }
    update();
  }

  addEventListener("hashchange", followFragment);
  // A link to the fragment that the address has already changes nothing in the address.
  document.querySelectorAll(".buckets a").forEach((link) => link.addEventListener("click", () => {
    if (link.hash === location.hash) followFragment();
  }));

  // --- one sample ---------------------------------------------------------------------------------------------------

  // Pictures with what a run made of them: in the order of its values, or with the one it chose.
  function answerPictures(card, answer) {
    const order = card.pictures.map((_, position) => position);
    if (answer.ranked) {
      // Ties count against the run.
      const isRight = (position) => Boolean(card.pictures[position].right);
      order.sort((first, second) => answer.values[second] - answer.values[first] || isRight(first) - isRight(second));
    }
    const row = element("div", "pictures several");
    order.forEach((position, rank) => {
      const data = card.pictures[position];
      const words = [answer.ranked ? `${rank + 1}.` : data.label];
      if (typeof answer.values?.[position] === "number") words.push(answer.values[position].toFixed(3));
      if (answer.chosen === position) words.push("chosen");
      const figure = picture(card, data, words.join(" "));
      figure.classList.toggle("chosen", answer.chosen === position);
      row.append(figure);
    });
    return row;
  }

  function foldedText(summary, text) {
    return element("details", "", element("summary", "", summary), element("pre", "text", text));
  }

  function answerDetails(card, answer) {
    const cell = answerCell(answer);
    if (card.pictures.length > 1) cell.append(answerPictures(card, answer));
    const answerFacts = [];
    if (answer.status) answerFacts.push(["parse status", readingText(answer)]);
    for (const [name, value] of Object.entries(answer.scores ?? {})) {
      answerFacts.push([name, typeof value === "number" ? percent(value) : String(value)]);
    }
    if (answerFacts.length) cell.append(definitionList(answerFacts));
    if (answer.prompt) cell.append(foldedText("prompt of this run", answer.prompt));
    cell.append(foldedText("raw output", answer.output));
    return cell;
  }

  function cardDetails(card) {
    const boxes = (card.boxes ?? []).map((edges) => ["truth", edges]);
    for (const answer of card.answers) for (const edges of answer.boxes ?? []) boxes.push(["found", edges]);
    const referenceCell = reference(card);
    const rightPictures = card.pictures.length > 1 ? card.pictures.filter((data) => data.right) : [];
    if (referenceCell && rightPictures.length) referenceCell.append(pictureRow({ ...card, pictures: rightPictures }, rightPictures.length));
    const words = element("p", "meta", "Boxes: dashed are annotated, solid were found by the runs.");
    const drawing = boxes.length ? [words, pictureRow(card, 1, boxes)] : [];
    const compared = element("div", "compared", referenceCell, ...card.answers.map((answer) => answerDetails(card, answer)));
    return [definitionList(facts(card)), ...drawing, compared, foldedText("full prompt", card.prompt)];
  }

  update();
  followFragment();
})();
