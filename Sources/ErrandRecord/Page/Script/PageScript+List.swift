extension PageScript {
  /// The list of calls. Only the rows in view exist, so that thousands of calls stay fluid.
  static let list = #"""
    const ROW = 34;
    const SPARE = 6;

    function drawList(isChanged) {
      const list = byID('list'), rows = byID('rows'), count = state.shown.length;
      rows.style.height = `${count * ROW}px`;
      byID('empty').hidden = count > 0;
      byID('empty').textContent = state.calls.length
        ? 'No call matches. Clear the filters to see all calls.' : 'No calls yet.';
      const first = Math.max(Math.floor(list.scrollTop / ROW) - SPARE, 0);
      const last = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE, count);
      if (!isChanged && first === state.firstRow && last === state.lastRow) return;
      [state.firstRow, state.lastRow] = [first, last];
      const old = isChanged ? new Map() : new Map([...rows.children].map(element => [element.id, element]));
      rows.replaceChildren(...state.shown.slice(first, last).map((call, index) =>
        old.get(`row-${first + index}`) || row(call, first + index)));
      const place = state.shown.indexOf(state.selected);
      if (place >= first && place < last) list.setAttribute('aria-activedescendant', `row-${place}`);
      else list.removeAttribute('aria-activedescendant');
    }

    function row(call, place) {
      const classes = ['row', tone(call)];
      if (call === state.selected) classes.push('selected');
      if (call === state.base) classes.push('base');
      return make(`div.${classes.join('.')}`, {
        id: `row-${place}`, role: 'option', 'aria-selected': call === state.selected ? 'true' : 'false',
        'aria-setsize': state.shown.length, 'aria-posinset': place + 1, style: { top: `${place * ROW}px` },
        onclick: () => select(call),
      },
      make('span.number', null, `#${call.number}`),
      make('span.status', null, make('i', { 'aria-hidden': 'true' }), statusText(call)),
      make('span.method', null, visible(call.method)),
      make('span.what', { title: visible(call.url) }, call.type ? make('b', null, visible(call.type)) : '',
        make('span.path', null, visible(call.path)), make('span.host', null, visible(call.host))),
      make('span.time', null, timeText(call.duration)),
      bar(call));
    }

    // The duration that fills the column: nearly all calls fit, and a few long ones are cut.
    function timeScale(calls) {
      const times = calls.map(call => call.duration).sort((a, b) => a - b);
      return times.length ? Math.max(times[Math.ceil((times.length - 1) * 0.97)] * 1.05, 0.001) : 1;
    }

    // The attempts of a call on its own time line.
    function bar(call) {
      const share = time => Math.min(Math.max(time / state.scale * 100, 0), 100);
      const pieces = call.entries.map(entry => {
        const start = share(entry.started - call.started);
        const width = Math.max(share(entry.started - call.started + entry.time) - start, 0.8);
        const isBad = entry.status === 0 || entry.status >= 400;
        return make(`i.${isBad ? 'try-bad' : 'try'}`, { style: { left: `${start}%`, width: `${width}%` } });
      });
      const isCut = call.duration > state.scale;
      return make(`span.bar${isCut ? '.cut' : ''}`, { 'aria-hidden': 'true' },
        make('i.whole', { style: { width: `${Math.max(share(call.duration), 0.8)}%` } }), pieces);
    }

    function select(call) {
      state.selected = call;
      revealRow(state.shown.indexOf(call));
      drawList(true);
      drawDetail();
    }

    function revealRow(place) {
      const list = byID('list');
      if (place < 0) return;
      if (place * ROW < list.scrollTop) list.scrollTop = place * ROW;
      if ((place + 1) * ROW > list.scrollTop + list.clientHeight) {
        list.scrollTop = (place + 1) * ROW - list.clientHeight;
      }
    }

    const MOVES = {
      ArrowDown: place => place + 1, ArrowUp: place => place - 1, Home: () => 0, End: () => Infinity,
      PageDown: place => place + 15, PageUp: place => place - 15,
    };

    function listKey(event) {
      const move = MOVES[event.key];
      if (move && state.shown.length) {
        const place = Math.min(Math.max(move(state.shown.indexOf(state.selected)), 0), state.shown.length - 1);
        select(state.shown[place]);
        event.preventDefault();
      } else if (event.key === 'Enter' && state.selected) {
        byID('detail').querySelector('[role=tab][aria-selected=true]')?.focus();
        event.preventDefault();
      }
    }

    """#

  /// Chooses the calls that the list shows.
  static let filter = #"""
    const noFilter = () => ({ text: '', status: '', method: '', host: '', origin: '', failed: false });

    function matches(call, filter) {
      if (filter.failed && !call.failed) return false;
      if (filter.status && statusClass(call) !== filter.status) return false;
      if (filter.method && call.method !== filter.method) return false;
      if (filter.host && call.host !== filter.host) return false;
      if (filter.origin && call.origin !== filter.origin) return false;
      return filter.words.every(word => haystack(call).includes(word));
    }

    // Every word of the search must occur.
    function filterCalls(calls, filter) {
      const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
      const prepared = { ...filter, words };
      return calls.filter(call => matches(call, prepared));
    }

    // The values of a property with their numbers of calls, the most frequent first.
    function countValues(calls, valueOf) {
      const counts = new Map();
      for (const call of calls) {
        const value = valueOf(call);
        if (value) counts.set(value, (counts.get(value) || 0) + 1);
      }
      return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    }

    // Fills a select. It keeps the selected value, also if no call has it any more.
    function fillSelect(id, title, counts) {
      const select = byID(id), value = select.value;
      const options = counts.slice(0, 200).map(([name, count]) =>
        make('option', { value: name }, `${visible(name)} (${count})`));
      if (value && !counts.some(([name]) => name === value)) options.push(make('option', { value }, visible(value)));
      select.replaceChildren(make('option', { value: '' }, title), ...options);
      select.value = value;
    }

    function fillFilters() {
      const names = { 'none': 'no status' };
      fillSelect('filter-status', 'Any status', countValues(state.calls, statusClass));
      for (const option of byID('filter-status').options) {
        if (names[option.value]) option.textContent = option.textContent.replace(option.value, names[option.value]);
      }
      fillSelect('filter-method', 'Any method', countValues(state.calls, call => call.method));
      fillSelect('filter-host', 'Any host', countValues(state.calls, call => call.host));
      fillSelect('filter-origin', 'Any source', countValues(state.calls, call => call.origin));
    }

    function readFilter() {
      state.filter = {
        text: byID('search').value, status: byID('filter-status').value, method: byID('filter-method').value,
        host: byID('filter-host').value, origin: byID('filter-origin').value, failed: byID('filter-failed').checked,
      };
      applyFilter();
    }

    function applyFilter() {
      state.shown = filterCalls(state.calls, state.filter);
      state.scale = timeScale(state.shown);
      byID('clear').hidden = JSON.stringify(state.filter) === JSON.stringify(noFilter());
      showSummary();
      drawList(true);
    }

    function clearFilter() {
      for (const id of ['search', 'filter-status', 'filter-method', 'filter-host', 'filter-origin']) byID(id).value = '';
      byID('filter-failed').checked = false;
      readFilter();
    }

    function showSummary() {
      const failed = state.shown.filter(call => call.failed).length;
      const cached = state.shown.filter(call => call.origin === 'cache').length;
      const all = state.calls.length, shown = state.shown.length;
      const parts = [shown === all ? `${all} ${all === 1 ? 'call' : 'calls'}` : `${shown} of ${all} calls`];
      if (failed) parts.push(`${failed} failed`);
      if (cached) parts.push(`${cached} from the cache`);
      byID('summary').textContent = parts.join(' · ');
    }

    """#
}
