// Draws the plots of a report with uPlot, each from the block of JSON beside it, and switches the theme.
(() => {
  'use strict';

  const root = document.documentElement;
  const MINUS = '\u2212';
  const DASH = '\u2013';

  // ── Numbers ────────────────────────────────────────────────────────────────────────────────────────────────────────

  // Three significant digits, thousands apart.
  const significant = (number) => {
    const rounded = Number(number.toPrecision(3));
    const digits = Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(Math.abs(rounded) || 1))));
    const text = Math.abs(rounded).toLocaleString('en-US', { maximumFractionDigits: digits });
    return (rounded < 0 ? MINUS : '') + text;
  };
  const scaled = (units) => (number) => {
    const [size, name] = units.find(([size]) => Math.abs(number) >= size) ?? units[units.length - 1];
    return `${significant(number / size)}${name && '\u00a0'}${name}`;
  };
  const microseconds = scaled([[3.6e9, 'h'], [6e7, 'min'], [1e6, 's'], [1e3, 'ms'], [1, 'µs']]);
  const bytes = scaled([[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']]);
  const quantile = (x) => `${Number((100 - 100 / x).toPrecision(7))} %`;
  const SHOW = {
    seconds: (s) => `${significant(s)}\u00a0s`,
    microseconds: (us) => (us === 0 ? '0' : microseconds(us)),
    bytes: (b) => (b === 0 ? '0' : bytes(b)),
    percent: (percent) => `${significant(percent)}\u00a0%`,
    number: significant,
    quantile,
  };

  // ── Axes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  // The powers of ten where there are many, else 1, 2, 5 of each, else all digits.
  const logSplits = (least, most) => {
    const from = Math.floor(Math.log10(least));
    const to = Math.ceil(Math.log10(most));
    const inRange = (steps) => {
      const splits = [];
      for (let power = from; power <= to; power += 1) {
        for (const step of steps) splits.push(step * 10 ** power);
      }
      return splits.filter((split) => split >= least * 0.999 && split <= most * 1.001);
    };
    const choices = [[1], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]].map(inRange);
    return choices.find((splits) => splits.length >= 3) ?? choices[2];
  };
  // The median, then a nine more at each.
  const quantileSplits = (most) => [2, ...logSplits(10, Math.max(10, most)).filter((x) => Number.isInteger(Math.log10(x)))];
  // Binary sizes have binary ticks.
  const byteSplits = (most) => {
    let step = 2 ** Math.floor(Math.log2(most / 4 || 1));
    if (most / step > 6) step *= 2;
    return Array.from({ length: Math.floor(most / step) + 1 }, (_, place) => place * step);
  };

  const colour = (name) => {
    const probe = document.createElement('i');
    probe.style.color = `var(--${name})`;
    root.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  const series = (number) => `series-${number % 8}`;
  // From the ninth on, colours come again with another dash.
  const dash = (line) => (line.shape === 'dashed' ? [7, 5] : [[], [2, 3], [10, 3, 2, 3]][Math.floor(line.colour / 8) % 3]);

  // ── What uPlot does not draw ───────────────────────────────────────────────────────────────────────────────────────

  const drawStretch = (chart) => (plot) => {
    if (!chart.stretch) return;
    const { ctx, bbox } = plot;
    const [from, to, label] = chart.stretch;
    const clamp = (x) => Math.max(bbox.left, Math.min(bbox.left + bbox.width, x));
    const left = clamp(plot.valToPos(from, 'x', true));
    const right = to === null ? bbox.left + bbox.width : clamp(plot.valToPos(to, 'x', true));
    ctx.save();
    ctx.fillStyle = colour('stretch');
    ctx.fillRect(left, bbox.top, Math.max(1, right - left), bbox.height);
    if (right - left > 90 * devicePixelRatio) {
      ctx.fillStyle = colour('dim');
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textAlign = 'left';
      ctx.textBaseline = 'bottom';
      ctx.fillText(label, left + 4 * devicePixelRatio, bbox.top + bbox.height - 4 * devicePixelRatio);
    }
    ctx.restore();
  };

  // Labels stand above the plot, each on the highest line that is free there: no mark then crosses an earlier one's label.
  const MARK_FONT = '600 11px system-ui, sans-serif';
  const MARK_LINES = 2;
  const MARK_LINE = 15;
  const drawMarks = (chart) => (plot) => {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.font = MARK_FONT.replace('11', 11 * ratio);
    ctx.textBaseline = 'bottom';
    ctx.textAlign = 'left';
    ctx.strokeStyle = colour('mark');
    ctx.fillStyle = colour('mark');
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash([]);
    const ends = Array(MARK_LINES).fill(-Infinity);
    for (const mark of chart.marks) {
      const x = plot.valToPos(mark.at, 'x', true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      const width = ctx.measureText(mark.label).width + 6 * ratio;
      const left = Math.min(x - 2 * ratio, bbox.left + bbox.width - width);
      const place = ends.findLastIndex((end) => end <= left);
      const bottom = bbox.top - Math.max(0, place) * MARK_LINE * ratio;
      ctx.beginPath();
      ctx.moveTo(x, bottom - 2 * ratio);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      if (place < 0) continue;
      ends[place] = left + width;
      ctx.fillText(mark.label, left + 4 * ratio, bottom - ratio);
    }
    ctx.restore();
  };

  const drawCells = (chart) => (plot) => {
    const { ctx } = plot;
    const most = Math.max(...chart.cells.map((cell) => cell[4]));
    ctx.save();
    ctx.fillStyle = colour(series(chart.colour));
    for (const [fromX, toX, fromY, toY, count] of chart.cells) {
      const [left, right] = [fromX, toX].map((x) => Math.round(plot.valToPos(x, 'x', true)));
      const [bottom, top] = [fromY, toY].map((y) => Math.round(plot.valToPos(y, 'y', true)));
      ctx.globalAlpha = shade(count, most);
      ctx.fillRect(left, top, Math.max(1, right - left), Math.max(1, bottom - top));
    }
    ctx.restore();
  };
  const shade = (count, most) => 0.1 + 0.9 * (Math.log1p(count) / Math.log1p(most));

  // What the shades of a heat map mean.
  const key = (chart) => {
    const most = Math.max(...chart.cells.map((cell) => cell[4]));
    const bar = document.createElement('div');
    bar.className = 'key';
    bar.append('1');
    for (let place = 0; place < 6; place += 1) {
      const count = most ** (place / 5);
      const box = document.createElement('i');
      box.style.background = colour(series(chart.colour));
      box.style.opacity = shade(count, most);
      bar.append(box);
    }
    bar.append(`${most.toLocaleString('en-US')} operations (logarithmic)`);
    return bar;
  };

  // ── Plots ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  const splits = (own) => {
    if (own.unit === 'quantile') return (plot, place, least, most) => quantileSplits(most);
    if (own.log) return (plot, place, least, most) => logSplits(least, most);
    if (own.unit === 'bytes') return (plot, place, least, most) => byteSplits(most);
    return undefined;
  };
  const axis = (own, side, font) => ({
    scale: side === 2 ? 'x' : 'y',
    side,
    font,
    stroke: colour('dim'),
    labelFont: font,
    label: side === 2 ? own.label : undefined,
    labelSize: 20,
    size: side === 2 ? 30 : 68,
    gap: 4,
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { stroke: colour('grid'), width: 1, size: 4 },
    splits: splits(own),
    filter: own.log ? (plot, splits) => splits : undefined,
    // A label too many is worse than one too few.
    space: side === 2 ? 56 : 28,
    values: (plot, splits) => splits.map((split) => (split === null ? '' : SHOW[own.unit](split))),
  });

  // Linear axes of amounts begin at 0; logarithmic ones have a little room at both ends.
  const range = (own, isX) => (plot, least, most) => {
    if (least === null || most === null) return own.log ? [1, 10] : [0, 1];
    if (own.log) return isX ? [least, most * 1.05] : [least / 1.3, most * 1.3];
    if (isX) return own.unit === 'seconds' ? [least, most > least ? most : least + 1] : [0, most * 1.05];
    return [0, most > 0 ? most * 1.08 : 1];
  };

  // A line needs two figures; one alone is a point.
  const isolated = (own) => () => own.figures
    .map((_, place) => place)
    .filter((place) => own.figures[place] != null
      && own.figures[place - 1] == null && own.figures[place + 1] == null);

  const line = (own, y) => {
    const stroke = colour(series(own.colour));
    const isPoints = own.shape === 'points' || own.shape === 'rings';
    return {
      label: own.label,
      stroke,
      width: 2,
      dash: dash(own),
      paths: isPoints ? () => null : undefined,
      points: isPoints
        ? { show: true, size: 9, width: 2, stroke, fill: own.shape === 'rings' ? colour('paper') : stroke }
        : { show: false, filter: isolated(own), size: 6, fill: stroke },
      value: (plot, figure) => (figure == null ? DASH : SHOW[y.unit](figure)),
    };
  };

  const options = (chart, width) => {
    const font = '12px system-ui, sans-serif';
    const isHeat = chart.cells.length > 0;
    return {
      width,
      height: Math.round(Math.max(220, Math.min(320, width * 0.42))),
      padding: [chart.marks.length > 0 ? MARK_LINES * MARK_LINE + 2 : 10, 24, 0, 0],
      legend: { show: !isHeat, live: true },
      cursor: {
        y: false,
        sync: chart.clock ? { key: chart.clock, setSeries: false } : undefined,
        drag: { x: true, y: false },
        points: { size: 7 },
      },
      scales: {
        x: { time: false, distr: chart.x.log ? 3 : 1, range: range(chart.x, true) },
        y: { distr: chart.y.log ? 3 : 1, range: range(chart.y, false) },
      },
      axes: [axis(chart.x, 2, font), axis(chart.y, 3, font)],
      series: [
        { label: chart.x.label, value: (plot, x) => (x == null ? DASH : SHOW[chart.x.unit](x)) },
        // A heat map's line only spans its axes.
        ...chart.lines.map((own) => (isHeat
          ? { show: true, paths: () => null, points: { show: false } }
          : { ...line(own, chart.y), spanGaps: chart.bridges })),
      ],
      hooks: {
        drawClear: [drawStretch(chart)],
        draw: [...(isHeat ? [drawCells(chart)] : []), drawMarks(chart)],
      },
    };
  };

  // The legend's lines can be switched with the keyboard too.
  const reachable = (plot) => {
    for (const entry of plot.root.querySelectorAll('.u-legend .u-series:not(:first-child) th')) {
      entry.tabIndex = 0;
      entry.setAttribute('role', 'button');
      entry.title = 'Hide or show';
      entry.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        entry.click();
      });
    }
  };

  const plots = new Map();

  const build = (place, width = place.clientWidth) => {
    if (width < 50) return;
    plots.get(place)?.destroy();
    place.replaceChildren();
    const chart = JSON.parse(place.parentElement.querySelector('script').textContent);
    const data = [chart.at, ...chart.lines.map((own) => own.figures)];
    const plot = new uPlot(options(chart, width), data, place);
    if (chart.cells.length > 0) place.append(key(chart));
    reachable(plot);
    plots.set(place, plot);
  };

  // A plot in a part of the page that is folded has no width, and is built when it is unfolded.
  const watch = new ResizeObserver((entries) => requestAnimationFrame(() => {
    for (const { target } of entries) {
      if (plots.get(target)?.width !== target.clientWidth) build(target);
    }
  }));
  const places = document.querySelectorAll('.plot');
  for (const place of places) {
    build(place);
    watch.observe(place);
  }
  const rebuild = (width) => plots.forEach((_, place) => build(place, width));

  // ── Theme ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const toggle = document.getElementById('theme');
  const theme = () => root.dataset.theme ?? (dark.matches ? 'dark' : 'light');
  const label = () => {
    toggle.textContent = theme() === 'dark' ? 'Light' : 'Dark';
  };
  const changed = () => {
    label();
    rebuild();
  };
  toggle.hidden = false;
  toggle.addEventListener('click', () => {
    root.dataset.theme = theme() === 'dark' ? 'light' : 'dark';
    changed();
  });
  dark.addEventListener('change', changed);
  label();

  // Paper is white, has its own width, and nothing on it can be unfolded.
  const PAPER_WIDTH = 640;
  const before = { theme: undefined, folded: [] };
  addEventListener('beforeprint', () => {
    watch.disconnect();
    before.theme = root.dataset.theme;
    before.folded = [...document.querySelectorAll('details.run:not([open])')];
    root.dataset.theme = 'light';
    before.folded.forEach((part) => { part.open = true; });
    places.forEach((place) => build(place, PAPER_WIDTH));
  });
  addEventListener('afterprint', () => {
    if (before.theme) root.dataset.theme = before.theme;
    else delete root.dataset.theme;
    before.folded.forEach((part) => { part.open = false; });
    rebuild();
    places.forEach((place) => watch.observe(place));
  });
})();
