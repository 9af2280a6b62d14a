/** Takes the number of pages that are read, and of all pages. */
export type PagesDone = (done: number, pages: number) => void;
