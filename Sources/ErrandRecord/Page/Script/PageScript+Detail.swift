extension PageScript {
  /// The detail of the selected call.
  static let detail = #"""
    const TABS = { overview: 'Overview', headers: 'Headers', bodies: 'Bodies', code: 'Code' };

    function drawDetail() {
      const detail = byID('detail'), call = state.selected;
      document.body.classList.toggle('has-detail', call !== null);
      if (!call) return detail.replaceChildren(make('p.hint', null, 'Select a call.'));
      if (state.base && state.base !== call) return drawCompare(state.base, call);
      detail.replaceChildren(detailHead(call), detailTabs(), make('div.panel', {
        id: 'panel', role: 'tabpanel', tabindex: '0', 'aria-labelledby': `tab-${state.tab}`,
      }, panels[state.tab](call)));
    }

    function detailHead(call) {
      return make('header.detail-head', null,
        make('div.headline', null, make(`span.badge.${tone(call)}`, null, statusText(call)),
          make('h2', null, visible(call.type || `${call.method} ${call.path}`)),
          make('button.quiet', { onclick: () => toggleBase(call), 'aria-pressed': String(call === state.base) },
            call === state.base ? 'Comparing…' : 'Compare'),
          make('button.quiet', { onclick: closeDetail, 'aria-label': 'Close the detail' }, '✕')),
        make('p.address', null, make('b', null, visible(call.method)), ' ', visible(call.url)),
        call === state.base ? make('p.notice', null, 'Select another call to compare it with this one.') : '');
    }

    function detailTabs() {
      const names = Object.keys(TABS);
      const turn = event => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        showTab(names[(names.indexOf(state.tab) + step + names.length) % names.length]);
        byID(`tab-${state.tab}`).focus();
      };
      return make('div.tabs', { role: 'tablist', onkeydown: turn }, names.map(name => make('button', {
        id: `tab-${name}`, role: 'tab', 'aria-selected': String(name === state.tab), 'aria-controls': 'panel',
        tabindex: name === state.tab ? '0' : '-1', onclick: () => showTab(name),
      }, TABS[name])));
    }

    function showTab(name) {
      state.tab = name;
      drawDetail();
    }

    function closeDetail() {
      [state.selected, state.base] = [null, null];
      drawDetail();
      drawList(true);
      byID('list').focus();
    }

    function overviewPanel(call) {
      return [
        call.failed && call.error ? make('p.error', null, call.code ? make('b', null, `${visible(call.code)} `) : '',
          visible(call.error)) : '',
        make('h3', null, 'Why'), whyList(call), make('h3', null, 'When'), timeline(call), factList(facts(call)),
      ].filter(Boolean);
    }

    function facts(call) {
      const last = call.entries[call.entries.length - 1];
      const attempts = call.entries.filter(entry => entry.errand.attempt !== 0).length;
      return [
        ['Started', call.started ? new Date(call.started).toISOString().replace('T', ' ') : 'unknown'],
        ['Duration', timeText(call.duration)], ['Source', call.origin], ['Requests sent', String(attempts)],
        ['Protocol', last.version], ['Server', last.address], ['Tag', call.tag],
      ].filter(([, value]) => value && value !== 'unknown');
    }

    const factList = pairs => make('dl.facts', null, pairs.map(([name, value]) =>
      [make('dt', null, name), make('dd', null, visible(value))]));

    // One section for each entry; a call with one entry needs no headings of attempts.
    function perAttempt(call, section) {
      return call.entries.flatMap((entry, index) => [
        call.entries.length > 1 ? make('h3.attempt', null, `Attempt ${index + 1}`,
          make('span.dim', null, ` ${entry.status || visible(entry.error) || 'no response'}`)) : '', ...section(entry),
      ]).filter(Boolean);
    }

    const headersPanel = call => perAttempt(call, entry => [
      make('h4', null, 'Request'), fieldTable(entry.requestHeaders),
      make('h4', null, 'Response'), fieldTable(entry.responseHeaders),
    ]);

    function fieldTable(fields) {
      if (!fields.length) return make('p.dim', null, 'None recorded.');
      return make('table.fields', null, make('tbody', null, fields.map(field =>
        make('tr', null, make('th', { scope: 'row' }, visible(field.name)), make('td', null, visible(field.value))))));
    }

    const bodiesPanel = call => perAttempt(call, entry => [
      make('h4', null, 'Request'), bodyText(entry.requestBody),
      make('h4', null, 'Response'), bodyText(entry.responseBody),
    ]);

    function bodyText(body) {
      if (!body || body.text === '') return make('p.dim', null, body ? 'Empty.' : 'None recorded.');
      const text = body.isBase64 ? `Base64: ${body.text}` : prettyText(body);
      const most = 200000;
      return make('pre', { tabindex: '0' }, visible(text.slice(0, most)),
        text.length > most ? `\n… ${text.length - most} more characters` : '');
    }

    // Indents JSON token by token, because a parsed object has lost repeated members, their order, and digits.
    function prettyText(body) {
      if (!/json/i.test(body.type) || body.text.length > 500000) return body.text;
      try { JSON.parse(body.text); } catch { return body.text; }
      let depth = 0, last = '', text = '';
      for (const [token] of body.text.matchAll(/"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
        const opened = last === '{' || last === '[', closes = token === '}' || token === ']';
        if (closes) depth -= 1;
        if (closes ? !opened : opened || last === ',') text += `\n${'  '.repeat(Math.min(depth, 40))}`;
        text += token === ':' ? ': ' : token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
        if (token === '{' || token === '[') depth += 1;
        last = token;
      }
      return text;
    }

    const CODES = { curl: ['curl', curlOf], request: ['Swift request', requestCode], test: ['Swift test', testCode] };

    function codePanel(call) {
      const text = CODES[state.code][1](call);
      const choose = name => { state.code = name; drawDetail(); byID(`code-${name}`).focus(); };
      return [
        make('div.codes', null, make('div.segments', { role: 'group', 'aria-label': 'Kind of code' },
          Object.entries(CODES).map(([name, [title]]) => make('button', {
            id: `code-${name}`, 'aria-pressed': String(name === state.code), onclick: () => choose(name),
          }, title))), make('button.primary', { id: 'copy', onclick: () => copy(text) }, 'Copy')),
        text.includes('•••') ? make('p.notice', null, 'Replace ••• with the value that the record masks.') : '',
        make('pre.code', { id: 'code', tabindex: '0' }, text),
      ].filter(Boolean);
    }

    const panels = { overview: overviewPanel, headers: headersPanel, bodies: bodiesPanel, code: codePanel };

    async function copy(text) {
      try { await navigator.clipboard.writeText(text); } catch { copySelected(text); }
      announce('Copied');
    }

    // For browsers that allow no clipboard to a page in a file.
    function copySelected(text) {
      const area = make('textarea', { 'aria-hidden': 'true' });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }

    """#

  /// The time line of a call: each attempt with its phases, and the decisions.
  static let timing = #"""
    function timeline(call) {
      const end = call.entries.reduce((most, entry) => Math.max(most, entry.started - call.started + entry.time),
        Math.max(call.duration, 0.001));
      const share = time => `${Math.min(Math.max(time / end * 100, 0), 100)}%`;
      const lanes = call.entries.map((entry, index) => attemptLane(call, entry, index, share));
      const used = PHASES.filter(name => call.entries.some(entry => entry.phases.some(phase => phase.name === name)));
      return make('figure.timeline', { 'aria-label': 'Time line' },
        make('div.scale', { 'aria-hidden': 'true' },
          [0, 0.25, 0.5, 0.75, 1].map(part => make('span', null, timeText(end * part)))),
        lanes, decisionLane(call, end, share),
        make('figcaption.legend', null, used.map(name =>
          make('span', null, make(`i.${name}`, { 'aria-hidden': 'true' }), PHASE_NAMES[name]))));
    }

    function attemptLane(call, entry, index, share) {
      const start = entry.started - call.started;
      const phases = entry.phases.map(phase => make(`i.${phase.name}`, {
        title: `${PHASE_NAMES[phase.name]} ${timeText(phase.time)}`,
        style: { left: share(start + phase.start), width: share(phase.time) },
      }));
      const words = entry.phases.map(phase => `${PHASE_NAMES[phase.name]} ${timeText(phase.time)}`).join(', ');
      const name = entry.errand.attempt === 0 ? 'Not sent' : `Attempt ${index + 1}`;
      const result = entry.status ? String(entry.status) : entry.error ? 'failed' : '–';
      return make('div.lane', { role: 'img', 'aria-label': `${name}, ${result}, ${timeText(entry.time)}: ${words}` },
        make('span.lane-name', null, name, make('span.dim', null, ` ${result}`)),
        make('span.track', null, phases),
        make('span.lane-time', null, timeText(entry.time)));
    }

    function decisionLane(call, end, share) {
      if (!call.offsets.length) return '';
      const marks = call.offsets.map((offset, index) => make('i.mark', {
        title: `${timeText(offset)}: ${visible(call.decisions[index] || '')}`, style: { left: share(offset) },
      }));
      return make('div.lane', { 'aria-hidden': 'true' }, make('span.lane-name.dim', null, 'Decisions'),
        make('span.track.marks', null, marks), make('span.lane-time'));
    }

    function whyList(call) {
      if (!call.decisions.length) {
        return make('p.dim', null, 'This archive contains no decisions for the call. Errand records them.');
      }
      return make('ol.why', null, call.decisions.map((sentence, index) => make('li', null,
        make('span.when', null, index < call.offsets.length ? timeText(call.offsets[index]) : ''),
        make('span', null, visible(sentence)))));
    }

    """#
}
