extension PageScript {
  /// The time line of a call: each attempt with its phases, and the decisions.
  static let timing = #"""
    function timeline(call) {
      const end = Math.max(call.duration, ...call.entries.map(entry => entry.started - call.started + entry.time), 0.001);
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
