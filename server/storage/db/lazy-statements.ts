import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";

type Values = SQLQueryBindings[];

/** A statement that is prepared on first use. */
class LateStatement {
  #prepared: Statement<unknown, Values> | null = null;
  readonly #prepare: () => Statement<unknown, Values>;

  constructor(prepare: () => Statement<unknown, Values>) {
    this.#prepare = prepare;
  }

  get(...values: Values) {
    return this.#statement().get(...values);
  }
  all(...values: Values) {
    return this.#statement().all(...values);
  }
  run(...values: Values) {
    return this.#statement().run(...values);
  }
  values(...values: Values) {
    return this.#statement().values(...values);
  }
  iterate(...values: Values) {
    return this.#statement().iterate(...values);
  }

  #statement(): Statement<unknown, Values> {
    this.#prepared ??= this.#prepare();
    return this.#prepared;
  }
}

/**
 * Makes `query` prepare statements on first use: a server has about four hundred, and a start needs few of them. An
 * invalid statement throws on that use.
 */
export function prepareLazily(sqlite: Database): void {
  const query = sqlite.query.bind(sqlite);
  sqlite.query = ((sql: string) => new LateStatement(() => query(sql))) as unknown as Database["query"];
}
