extension PageScript {
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
