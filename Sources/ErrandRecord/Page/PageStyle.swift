/// The style of the page. It follows the system's light or dark appearance.
enum PageStyle {
  static let all = [colors, frame, detail].joined(separator: "\n")

  private static let colors = #"""
    :root {
      color-scheme: light dark;
      --back: #f6f7f9; --card: #ffffff; --text: #1c2230; --dim: #5c6575; --line: #e3e6eb; --hover: #f1f3f7;
      --select: #e6eefc; --accent: #2459c4; --good: #1d7f45; --bad: #c22b35; --cache: #6f42b8; --moved: #96650a;
      --bad-back: #fdecec; --differs: #fff6dc; --track: #eef0f4; --bar: #8fb1ee; --bar-bad: #e98c91;
      --blocked: #b9bfca; --dns: #58b8a9; --connect: #e8a54b; --ssl: #b689dd; --send: #6fa8ee; --wait: #4f7fdc;
      --receive: #5fb878;
      --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
      --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --back: #12151b; --card: #191d25; --text: #e4e8ef; --dim: #98a2b3; --line: #2a303b; --hover: #20252f;
        --select: #22345a; --accent: #8ab0ff; --good: #63cf8e; --bad: #ff8087; --cache: #c09cf5; --moved: #e0b05c;
        --bad-back: #3a2024; --differs: #3a3218; --track: #232934; --bar: #4468ad; --bar-bad: #a2484f;
        --blocked: #596273; --dns: #3f9c8e; --connect: #c78632; --ssl: #9468c0; --send: #4f86cb; --wait: #4d77cc;
        --receive: #459a5f;
      }
    }
    """#

  private static let frame = #"""
    * { box-sizing: border-box; }
    html, body { height: 100%; margin: 0; }
    body { display: flex; flex-direction: column; background: var(--back); color: var(--text);
      font: 14px/1.45 var(--sans); }
    h1, h2, h3, h4, p, ol, dl, figure { margin: 0; }
    h1 { font-size: 16px; font-weight: 650; }
    button, input, select { font: inherit; color: inherit; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
    [hidden] { display: none !important; }
    .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    .dim { color: var(--dim); }
    .right { text-align: right; }
    .top { display: flex; flex-wrap: wrap; align-items: baseline; gap: 6px 14px; padding: 14px 18px 12px; }
    #summary { color: var(--dim); font-variant-numeric: tabular-nums; }
    #live { margin-left: auto; font-size: 13px; color: var(--dim); }
    #live::before { content: ""; display: inline-block; width: 8px; height: 8px; margin-right: 6px; border-radius: 50%;
      background: var(--bad); }
    #live[data-kind=on]::before { background: var(--good); }
    .filters { display: flex; flex: 1 0 100%; flex-wrap: wrap; align-items: center; gap: 8px; }
    .search { position: relative; flex: 1 1 260px; max-width: 420px; }
    .search input { width: 100%; }
    .search kbd { position: absolute; right: 9px; top: 6px; padding: 0 6px; border: 1px solid var(--line);
      border-radius: 4px; color: var(--dim); font: 12px/18px var(--mono); pointer-events: none; }
    .search input:focus + kbd, .search input:not(:placeholder-shown) + kbd { display: none; }
    .filters input[type=search], .filters select { height: 32px; padding: 0 10px; border: 1px solid var(--line);
      border-radius: 7px; background: var(--card); }
    .filters select { max-width: 210px; padding-right: 4px; }
    .check { display: inline-flex; align-items: center; gap: 6px; white-space: nowrap; }
    .check input { accent-color: var(--accent); }
    button { cursor: pointer; }
    .quiet { height: 30px; padding: 0 10px; border: 1px solid transparent; border-radius: 7px; background: none;
      color: var(--accent); white-space: nowrap; }
    .quiet:hover { background: var(--hover); }
    .primary { height: 32px; padding: 0 16px; border: 0; border-radius: 7px; background: var(--accent);
      color: var(--card); font-weight: 600; }
    main { display: flex; flex: 1; min-height: 0; gap: 12px; padding: 0 18px 18px; }
    .calls, #detail { display: flex; flex-direction: column; min-width: 0; min-height: 0; border: 1px solid var(--line);
      border-radius: 10px; background: var(--card); overflow: hidden; }
    .calls { flex: 1 1 54%; }
    #detail { display: none; flex: 1 1 46%; }
    .has-detail #detail { display: flex; }
    .columns, .row { display: grid; grid-template-columns: 62px 76px 66px minmax(120px, 1fr) 76px minmax(70px, 22%);
      align-items: center; gap: 10px; padding: 0 14px; }
    .columns { height: 32px; border-bottom: 1px solid var(--line); color: var(--dim); font-size: 12px; }
    #list { position: relative; flex: 1; overflow-y: auto; }
    #list:focus-visible { outline-offset: -2px; }
    #rows { position: relative; }
    #empty, .hint { padding: 40px; color: var(--dim); text-align: center; }
    .row { position: absolute; left: 0; right: 0; height: 34px; cursor: default; white-space: nowrap;
      contain: strict; }
    .row > span { overflow: hidden; text-overflow: ellipsis; line-height: 20px; }
    .row:hover { background: var(--hover); }
    .row.selected { background: var(--select); }
    .row.base { box-shadow: inset 3px 0 var(--accent); }
    .number, .time { color: var(--dim); font-variant-numeric: tabular-nums; }
    .time { text-align: right; }
    .status { font-weight: 600; font-variant-numeric: tabular-nums; }
    .status i { display: inline-block; width: 8px; height: 8px; margin-right: 7px; border-radius: 50%;
      background: currentColor; }
    .good .status { color: var(--good); } .bad .status { color: var(--bad); }
    .cache .status { color: var(--cache); } .moved .status { color: var(--moved); }
    .method { font-size: 12px; color: var(--dim); }
    .what b { margin-right: 8px; font-weight: 600; }
    .path { margin-right: 8px; }
    .host { color: var(--dim); font-size: 12px; }
    .bar { position: relative; height: 12px; border-radius: 3px; }
    .bar i { position: absolute; top: 0; height: 12px; border-radius: 3px; }
    .bar .whole { top: 5px; left: 0; height: 2px; background: var(--line); }
    .bar .try { background: var(--bar); } .bar .try-bad { background: var(--bar-bad); }
    .bar.cut { mask-image: linear-gradient(90deg, #000 80%, transparent); }
    #toast { position: fixed; left: 50%; bottom: 26px; padding: 8px 16px; border-radius: 8px; background: var(--text);
      color: var(--back); opacity: 0; transform: translate(-50%, 6px); transition: opacity .15s, transform .15s;
      pointer-events: none; }
    #toast.shown { opacity: 1; transform: translate(-50%, 0); }
    @media (max-width: 1000px) {
      main { flex-direction: column; }
      .columns, .row { grid-template-columns: 52px 70px minmax(100px, 1fr) 70px; }
      .columns span:nth-child(3), .columns span:nth-child(6), .method, .row .bar { display: none; }
    }
    @media (prefers-reduced-motion: reduce) { #toast { transition: none; } }
    """#

  private static let detail = #"""
    .detail-head { padding: 12px 16px 8px; }
    .headline { display: flex; align-items: center; gap: 10px; }
    .headline h2 { flex: 1; min-width: 0; font-size: 16px; font-weight: 650; overflow: hidden; text-overflow: ellipsis;
      white-space: nowrap; }
    .badge { padding: 1px 9px; border-radius: 99px; border: 1px solid currentColor; font-weight: 600; font-size: 13px;
      font-variant-numeric: tabular-nums; }
    .badge.good { color: var(--good); } .badge.bad { color: var(--bad); }
    .badge.cache { color: var(--cache); } .badge.moved { color: var(--moved); }
    .address { margin-top: 4px; max-height: 4.4em; overflow: auto; color: var(--dim); font: 12.5px/1.45 var(--mono);
      overflow-wrap: anywhere; }
    .notice { margin: 8px 0 0; color: var(--dim); font-size: 13px; }
    .error { padding: 8px 12px; border-radius: 8px; background: var(--bad-back); overflow-wrap: anywhere; }
    .error b { color: var(--bad); }
    .tabs { display: flex; gap: 4px; padding: 0 12px; border-bottom: 1px solid var(--line); }
    .tabs button { padding: 7px 10px; border: 0; border-bottom: 2px solid transparent; background: none;
      color: var(--dim); }
    .tabs [aria-selected=true] { border-color: var(--accent); color: var(--text); font-weight: 600; }
    .panel { flex: 1; min-height: 0; overflow: auto; padding: 4px 16px 20px; }
    .panel > .error, .panel > .codes { margin-top: 12px; }
    .panel:focus-visible { outline-offset: -2px; }
    h3 { margin: 18px 0 8px; font-size: 13px; font-weight: 650; }
    h4 { margin: 12px 0 6px; color: var(--dim); font-size: 12px; font-weight: 600; }
    .why { padding: 0; list-style: none; }
    .why li { display: grid; grid-template-columns: 62px 1fr; gap: 12px; padding: 5px 0;
      border-top: 1px solid var(--line); overflow-wrap: anywhere; }
    .why li:first-child { border-top: 0; }
    .when { color: var(--dim); text-align: right; font-variant-numeric: tabular-nums; font-size: 13px; }
    .scale { display: flex; justify-content: space-between; margin: 0 72px 4px 118px; color: var(--dim);
      font-size: 11px; font-variant-numeric: tabular-nums; }
    .lane { display: grid; grid-template-columns: 108px 1fr 62px; align-items: center; gap: 10px; height: 26px;
      font-size: 12.5px; }
    .lane-name { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    .lane-time { text-align: right; color: var(--dim); font-variant-numeric: tabular-nums; }
    .track { position: relative; height: 14px; border-radius: 4px; background: var(--track); overflow: hidden; }
    .track i { position: absolute; top: 0; height: 14px; min-width: 2px; }
    .marks { background: none; overflow: visible; }
    .marks::before { content: ""; position: absolute; top: 6px; left: 0; right: 0; height: 1px; background: var(--line); }
    .track .mark { top: 3px; width: 8px; height: 8px; margin-left: -4px; border-radius: 50%; background: var(--dim); }
    .legend { display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 8px 0 14px 118px; color: var(--dim);
      font-size: 12px; }
    .legend i { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 3px; }
    .blocked { background: var(--blocked); } .dns { background: var(--dns); } .connect { background: var(--connect); }
    .ssl { background: var(--ssl); } .send { background: var(--send); } .wait { background: var(--wait); }
    .receive { background: var(--receive); }
    .facts { display: grid; grid-template-columns: 118px 1fr; gap: 4px 0; }
    .facts dt { color: var(--dim); } .facts dd { margin: 0; overflow-wrap: anywhere; }
    table { width: 100%; border-collapse: collapse; table-layout: fixed; }
    th, td { padding: 4px 8px 4px 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top;
      font: 12.5px/1.5 var(--mono); overflow-wrap: anywhere; white-space: pre-wrap; }
    tr:first-child > * { border-top: 0; }
    th { width: 34%; color: var(--dim); font-weight: 400; }
    .compare th { width: 20%; }
    .compare .differs td { background: var(--differs); }
    .compare td { padding-left: 8px; }
    pre { margin: 0; padding: 10px 12px; border-radius: 8px; background: var(--track); font: 12.5px/1.5 var(--mono);
      white-space: pre-wrap; overflow-wrap: anywhere; }
    pre.code { margin-top: 12px; white-space: pre; overflow: auto; overflow-wrap: normal; }
    .codes { display: flex; justify-content: space-between; align-items: center; gap: 12px; }
    .segments { display: inline-flex; padding: 2px; border-radius: 8px; background: var(--track); }
    .segments button { padding: 4px 12px; border: 0; border-radius: 6px; background: none; color: var(--dim); }
    .segments [aria-pressed=true] { background: var(--card); color: var(--text); font-weight: 600; }
    """#
}
