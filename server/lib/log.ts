/** Structured lines for the operator. Values may be anything; secrets are masked where the line is written. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

export const silentLog: Log = { info() {}, warn() {}, error() {} };
