extension PageScript {
  /// Makes elements. Texts become text nodes, so they cannot become markup.
  static let element = #"""
    // make('span.dim', { title: 'x' }, 'text', child, …): the name is an element with classes.
    function make(name, attributes, ...children) {
      const [tag, ...classes] = name.split('.');
      const element = document.createElement(tag);
      if (classes.length) element.className = classes.join(' ');
      for (const [key, value] of Object.entries(attributes || {})) setAttribute(element, key, value);
      for (const child of children.flat(2)) {
        if (child !== null && child !== undefined && child !== '') element.append(child);
      }
      return element;
    }

    function setAttribute(element, key, value) {
      if (value === null || value === undefined || value === false) return;
      if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
      else if (key === 'style') for (const [name, part] of Object.entries(value)) element.style.setProperty(name, part);
      else element.setAttribute(key, value === true ? '' : value);
    }

    const byID = id => document.getElementById(id);

    // Shows characters that would change the order of a text or would be invisible.
    const HIDDEN = new RegExp('[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f'
      + '\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]', 'gu');
    const visible = text => text.replace(HIDDEN, hidden =>
      `\\u{${hidden.codePointAt(0).toString(16).toUpperCase()}}`);

    function statusClass(call) {
      if (call.status >= 100 && call.status < 600) return `${Math.floor(call.status / 100)}xx`;
      return 'none';
    }

    const statusText = call => call.status ? String(call.status) : call.failed ? 'failed' : '–';

    // The colour of a call: failures first, then the source, then the status.
    function tone(call) {
      if (call.failed) return 'bad';
      if (call.origin === 'cache') return 'cache';
      return call.status >= 300 && call.status < 400 ? 'moved' : 'good';
    }

    let toastTimer = 0;
    function announce(text) {
      const toast = byID('toast');
      toast.textContent = text;
      toast.classList.add('shown');
      clearTimeout(toastTimer);
      toastTimer = setTimeout(() => toast.classList.remove('shown'), 2500);
    }

    """#
}
