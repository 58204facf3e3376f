// Elements without markup: texts only ever become text, so that no symbol can be run.

const panels = {};
// Each panel adds itself: panels[kind] = (element, data, page) => { … }. A panel may show another one.

const make = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Attributes that are functions listen to events; those that are null, undefined or false are left out.
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

let ids = 0;
const uniqueId = (name) => `${name}-${++ids}`;

const clear = (element) => element.replaceChildren();
