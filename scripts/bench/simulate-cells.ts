interface Rates {
  cells: number;
  /** Commits per second of all cells, at random moments. */
  commits_s: number;
  /** Processor time of Postgres per row. */
  cpu_ms: number;
  /** Milliseconds of a flush of its WAL to both disks: one after another, each for all ready rows. */
  flush_ms: number;
  cores: number;
}

interface Cell {
  /** Moments of the commits that wait for the next row. */
  next: number[];
  /** Rows in flight, the oldest first, each with the moments of its commits. */
  sent: number[][];
}

const [rowsOnTheirWay, way_ms, least] = [2, 0.1, 200_000];

/**
 * Simulates leaders that send their commits to one Postgres: rows of a cell execute one after another, each on the
 * first free core, and are acknowledged once flushed. Returns the latencies of about 200,000 commits without the first
 * tenth; if Postgres is too small for the rate, the queues grow, and so do the latencies.
 */
export function simulateCells({ cells: count, commits_s, cpu_ms, flush_ms, cores }: Rates) {
  const cells: Cell[] = Array.from({ length: count }, () => ({ next: [], sent: [] }));
  const free = new Float64Array(cores);
  const events = createQueue();
  const waits_ms: number[] = [];
  let [now, rows, commits, isFlushing] = [0, 0, 0, false];
  let ready: Cell[] = [];

  function send(cell: Cell): void {
    if (cell.next.length === 0 || cell.sent.length >= rowsOnTheirWay) return;
    cell.sent.push(cell.next);
    cell.next = [];
    if (cell.sent.length === 1) events.add(now + way_ms, () => carryOut(cell));
  }

  function carryOut(cell: Cell): void {
    let core = 0;
    for (let at = 1; at < cores; at++) if (free[at]! < free[core]!) core = at;
    free[core] = Math.max(free[core]!, now) + cpu_ms;
    events.add(free[core]!, () => {
      ready.push(cell);
      flush();
    });
  }

  function flush(): void {
    if (isFlushing || ready.length === 0) return;
    const flushed = ready;
    [ready, isFlushing] = [[], true];
    events.add(now + flush_ms, () => {
      isFlushing = false;
      for (const cell of flushed) acknowledged(cell);
      flush();
    });
  }

  function acknowledged(cell: Cell): void {
    const told = cell.sent.shift()!;
    rows++;
    for (const at of told) waits_ms.push(now + way_ms - at);
    if (cell.sent.length > 0) carryOut(cell); // It has arrived already.
    send(cell);
  }

  function commit(): void {
    if (++commits < least) events.add(now - (Math.log(1 - Math.random()) * 1000) / commits_s, commit);
    const cell = cells[Math.floor(Math.random() * count)]!;
    cell.next.push(now);
    send(cell);
  }

  events.add(0, commit);
  for (let event = events.take(); event; event = events.take()) {
    now = event.at;
    event.run();
  }
  const counted = waits_ms.slice(least / 10).sort((a, b) => a - b);
  return {
    rows_s: (rows / now) * 1000,
    commits_a_row: commits / rows,
    p50_ms: counted[Math.floor(counted.length * 0.5)]!,
    p99_ms: counted[Math.floor(counted.length * 0.99)]!,
    /** Average number of busy cores. */
    cores: (rows * cpu_ms) / now,
  };
}

interface Event {
  at: number;
  run(): void;
}

/** A heap that returns the earliest event first. */
function createQueue() {
  const heap: Event[] = [];
  function swap(a: number, b: number): void {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  }
  return {
    add(at: number, run: () => void): void {
      heap.push({ at, run });
      for (let child = heap.length - 1; child > 0; ) {
        const parent = (child - 1) >> 1;
        if (heap[parent]!.at <= heap[child]!.at) return;
        swap(parent, child);
        child = parent;
      }
    },
    take(): Event | undefined {
      const first = heap[0];
      const last = heap.pop();
      if (heap.length === 0 || !last) return first;
      heap[0] = last;
      for (let parent = 0; ; ) {
        const [left, right] = [2 * parent + 1, 2 * parent + 2];
        let least = parent;
        if (left < heap.length && heap[left]!.at < heap[least]!.at) least = left;
        if (right < heap.length && heap[right]!.at < heap[least]!.at) least = right;
        if (least === parent) return first;
        swap(least, parent);
        parent = least;
      }
    },
  };
}
