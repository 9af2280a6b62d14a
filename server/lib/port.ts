/** What one folder of the server asks of another that is composed after it. */
export interface Port<Provided> {
  /** Throws as long as nobody provides it: it is asked by requests and runs, which come later. */
  (): Provided;
  provide(provided: Provided): void;
}

export function createPort<Provided extends object>(name: string): Port<Provided> {
  let given: Provided | null = null;
  const port = (): Provided => {
    if (given === null) throw new Error(`Nobody provides ${name} yet.`);
    return given;
  };
  return Object.assign(port, {
    provide(provided: Provided): void {
      if (given !== null) throw new Error(`Somebody provides ${name} already.`);
      given = provided;
    },
  });
}
