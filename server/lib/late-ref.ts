/** Reference to a module that is created later. */
export interface LateRef<Provided> {
  /** Throws until it is provided. Only requests and runs call it, which come later. */
  (): Provided;
  provide(provided: Provided): void;
}

export function createLateRef<Provided extends object>(name: string): LateRef<Provided> {
  let value: Provided | null = null;
  const port = (): Provided => {
    if (value === null) throw new Error(`${name} is not provided yet.`);
    return value;
  };
  return Object.assign(port, {
    provide(provided: Provided): void {
      if (value !== null) throw new Error(`${name} is provided already.`);
      value = provided;
    },
  });
}
