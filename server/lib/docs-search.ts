import MiniSearch, { type Query, type SearchOptions } from "minisearch";
import { stemmer } from "stemmer";

/** Searchable content of a page of the documentation. */
export interface SearchablePage {
  path: string;
  title: string;
  headings: string[];
  text: string;
  /** Words that people search for, and the page does not use: "SSO" of the page on single sign-on. */
  keywords?: string;
}

/** A page that a search found. */
interface FoundPage {
  path: string;
  title: string;
  /** Words of the page that match. */
  matches: string[];
}

const wordsOf = (text: string): string[] =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

const options = {
  idField: "path",
  fields: ["keywords", "title", "path", "headings", "text"],
  storeFields: ["title"],
  tokenize: wordsOf,
  // The word as it stands is found by its beginning and with typing errors, its stem in all its forms.
  processTerm: (word: string) => [...new Set([word, stemmer(word)])],
};

/** Returns the index of pages as JSON text. */
export function docsIndexOf(pages: readonly SearchablePage[]): string {
  const index = new MiniSearch(options);
  index.addAll(pages.map((page) => ({ ...page, headings: page.headings.join("\n") })));
  return JSON.stringify(index);
}

/**
 * Returns a function that finds pages by the words of a question, the best page first: in any form, by their beginnings,
 * and with a typing error or two. A page has all words; if none has, the pages with some of them are found.
 */
export function docsFinder(index: string): (question: string) => FoundPage[] {
  const search = MiniSearch.loadJSON(index, options);
  return (question) => {
    const words = wordsOf(question);
    const plain = words.join(" ");
    const settings: SearchOptions = {
      boost: { keywords: 25, title: 6, path: 4, headings: 3 },
      // A question that is a title means that page. Objects are rather parts of other pages.
      boostDocument: (path, _, { title } = {}) =>
        wordsOf(String(title)).join(" ") === plain ? 8 : String(path).startsWith("reference/objects/") ? 0.5 : 1,
    };
    const queries = words.map(queryOf);
    for (const combineWith of ["AND", "OR"] as const) {
      const found = search.search({ combineWith, queries }, settings);
      if (found.length > 0)
        return found.map(({ id, title, terms }) => ({ path: String(id), title: String(title), matches: terms }));
    }
    return [];
  };
}

const queryOf = (word: string): Query => ({
  combineWith: "OR",
  queries: [
    { queries: [word], prefix: word.length > 1, fuzzy: word.length > 4 ? 0.25 : false, processTerm: (term) => term },
    { queries: [stemmer(word)], processTerm: (term) => term },
  ],
});
