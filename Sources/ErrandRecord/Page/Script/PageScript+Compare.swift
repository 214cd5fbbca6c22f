extension PageScript {
  /// Shows two calls next to each other and marks what differs.
  static let compare = #"""
    function toggleBase(call) {
      state.base = call === state.base ? null : call;
      drawList(true);
      drawDetail();
    }

    function drawCompare(left, right) {
      const isSame = ([, a, b]) => a === b;
      const sections = comparison(left, right).map(([title, rows]) => {
        const shown = state.onlyDifferences ? rows.filter(row => !isSame(row)) : rows;
        return shown.length ? [make('h3', null, title), compareTable(shown, isSame)] : '';
      });
      byID('detail').replaceChildren(make('header.detail-head', null,
        make('div.headline', null, make('h2', null, `#${left.number} and #${right.number}`), onlyDifferences(),
          make('button.quiet', { onclick: swapBase }, 'Swap'),
          make('button.quiet', { id: 'end-compare', onclick: () => toggleBase(left) }, 'End comparison'))),
      make('div.panel', { tabindex: '0', 'aria-label': 'Comparison' }, ...sections.flat().filter(Boolean)));
    }

    function onlyDifferences() {
      const box = make('input', { type: 'checkbox', onchange: event => {
        state.onlyDifferences = event.target.checked;
        drawDetail();
      } });
      box.checked = state.onlyDifferences;
      return make('label.check', null, box, 'Only differences');
    }

    function swapBase() {
      [state.base, state.selected] = [state.selected, state.base];
      drawList(true);
      drawDetail();
    }

    // The sections of a comparison: rows of a name and two texts.
    function comparison(left, right) {
      const both = (name, value) => [name, value(left), value(right)];
      const last = call => call.entries[call.entries.length - 1];
      return [
        ['Call', [
          both('Request', call => call.type), both('Method', call => call.method), both('URL', call => call.url),
          both('Status', statusText), both('Error', call => call.error), both('Source', call => call.origin),
          both('Attempts', call => String(call.entries.length)), both('Duration', call => timeText(call.duration)),
        ].filter(([, a, b]) => a || b)],
        ['Why', pairRows(left.decisions, right.decisions)],
        ['Phases of the last attempt', PHASES.map(name => [PHASE_NAMES[name], phaseText(last(left), name),
          phaseText(last(right), name)]).filter(([, a, b]) => a || b)],
        ['Request headers', fieldRows(last(left).requestHeaders, last(right).requestHeaders)],
        ['Response headers', fieldRows(last(left).responseHeaders, last(right).responseHeaders)],
        ['Bodies', [['Request', bodyOf(last(left).requestBody), bodyOf(last(right).requestBody)],
          ['Response', bodyOf(last(left).responseBody), bodyOf(last(right).responseBody)]].filter(([, a, b]) => a || b)],
      ];
    }

    const phaseText = (entry, name) => {
      const phase = entry.phases.find(phase => phase.name === name);
      return phase ? timeText(phase.time) : '';
    };

    const bodyOf = body => body ? prettyText(body).slice(0, 20000) : '';

    const pairRows = (left, right) => Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
      [String(index + 1), left[index] || '', right[index] || '']);

    function fieldRows(left, right) {
      const joined = (fields, name) => fields.filter(field => field.name.toLowerCase() === name)
        .map(field => field.value).join('\n');
      const names = [...new Set([...left, ...right].map(field => field.name.toLowerCase()))].sort();
      return names.map(name => [name, joined(left, name), joined(right, name)]);
    }

    function compareTable(rows, isSame) {
      return make('table.compare', null, make('tbody', null, rows.map(row => make(isSame(row) ? 'tr' : 'tr.differs',
        null, make('th', { scope: 'row' }, visible(row[0])), make('td', null, visible(row[1])),
        make('td', null, visible(row[2]))))));
    }

    """#
}
