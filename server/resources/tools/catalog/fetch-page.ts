import { type CatalogEntry, listIn } from "./catalog-entry.ts";

export const entry: CatalogEntry = {
  title: "Read web pages",
  description: "Reads pages and documents of the web as Markdown.",
  settings: {
    allowed_hosts: {
      title: "Allowed hosts",
      description:
        "Hosts that may be read, such as docs.example.com or *.example.com, with commas. Empty: every public host.",
    },
  },
  tools: ({ allowed_hosts }) => [
    {
      name: "fetch_page",
      type: "page",
      description: "Reads a page of the web as Markdown. For a long page, call it again with next_offset as offset.",
      allowed_hosts: listIn(allowed_hosts) ?? null,
    },
  ],
};
