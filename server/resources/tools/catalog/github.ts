import type { CreateTool } from "../schema.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

const owner = { type: "string", maxLength: 100, description: "The owner of the repository." };
const repo = { type: "string", maxLength: 100, description: "The name of the repository." };
const number = { type: "integer", minimum: 1, description: "The number of the issue or pull request." };
const page = { type: "integer", minimum: 1, description: "The page of results. Default: 1." };
const per_page = { type: "integer", minimum: 1, maximum: 100, description: "Results per page. Default: 30." };
const issueFields = ["number", "title", "state", "html_url", "user.login", "labels.name", "created_at", "updated_at"];
const failures: CreateTool["failures"] = [
  { status: 401, hint: "GitHub does not accept the token. Its owner must set another one." },
  { status: 404, hint: "There is no such thing, or the token may not see it." },
  { status: 410, hint: "The repository has no issues, or it was moved." },
];
const inItems = (fields: readonly string[]): string[] => fields.map((field) => `items.${field}`);

/** https://docs.github.com/rest, version 2022-11-28 */
export const entry: CatalogEntry = {
  title: "GitHub",
  description: "Reads and searches code, issues and pull requests. A person approves each issue and comment.",
  settings: {
    token: {
      title: "Token",
      description: "A fine-grained personal access token with the permissions that the agent should have.",
      required: true,
      secret: true,
    },
    api_url: {
      title: "API address",
      description: "For GitHub Enterprise Server: https://HOST/api/v3.",
      default: "https://api.github.com",
    },
  },
  tools: ({ token = "", api_url = "https://api.github.com" }) => toolsOf(api_url.replace(/\/+$/, ""), token),
};

function toolsOf(base: string, token: string): CreateTool[] {
  const headers = {
    Authorization: `Bearer ${token}`,
    Accept: "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "runnel",
  };
  const reading = (
    name: string,
    description: string,
    path: string,
    properties: Record<string, object>,
    required: string[],
    output_fields: string[],
  ): CreateTool => ({
    name,
    type: "http",
    description,
    method: "GET",
    url: base + path,
    headers,
    parameters: { type: "object", properties, required, additionalProperties: false },
    output_fields,
    failures,
    retries: 2,
  });
  const writing = (
    name: string,
    description: string,
    path: string,
    properties: Record<string, object>,
    required: string[],
  ): CreateTool => ({
    ...reading(name, description, path, properties, required, ["number", "id", "html_url"]),
    method: "POST",
    retries: 0,
    approval: "always",
  });
  const text = (description: string) => ({ type: "string", maxLength: 65_536, description });
  return [
    reading(
      "github_search_issues",
      "Searches issues and pull requests, by GitHub's search syntax: repo:owner/name is:open label:bug words.",
      "/search/issues?q={query}",
      { query: { type: "string", maxLength: 256 }, per_page, page },
      ["query"],
      ["total_count", ...inItems(issueFields)],
    ),
    reading(
      "github_search_code",
      "Searches code, by GitHub's search syntax: words repo:owner/name path:src language:go.",
      "/search/code?q={query}",
      { query: { type: "string", maxLength: 256 }, per_page, page },
      ["query"],
      ["total_count", ...inItems(["path", "html_url", "repository.full_name"])],
    ),
    reading(
      "github_get_issue",
      "Reads an issue or a pull request.",
      "/repos/{owner}/{repo}/issues/{number}",
      { owner, repo, number },
      ["owner", "repo", "number"],
      [...issueFields, "body", "comments", "assignees.login", "pull_request.html_url"],
    ),
    reading(
      "github_list_comments",
      "Reads the comments of an issue or a pull request.",
      "/repos/{owner}/{repo}/issues/{number}/comments",
      { owner, repo, number, per_page, page },
      ["owner", "repo", "number"],
      ["id", "user.login", "body", "created_at", "html_url"],
    ),
    reading(
      "github_list_files",
      "Lists a folder of a repository.",
      "/repos/{owner}/{repo}/contents/{path}",
      {
        owner,
        repo,
        path: { type: "string", maxLength: 1000, description: "The folder, such as src/lib." },
        ref: { type: "string", maxLength: 250, description: "A branch, tag or commit. Default: the default branch." },
      },
      ["owner", "repo", "path"],
      ["name", "path", "type", "size", "html_url"],
    ),
    {
      ...reading(
        "github_read_file",
        "Reads a file of a repository.",
        "/repos/{owner}/{repo}/contents/{path}",
        {
          owner,
          repo,
          path: { type: "string", maxLength: 1000, description: "The file, such as src/main.go." },
          ref: { type: "string", maxLength: 250, description: "A branch, tag or commit. Default: the default branch." },
        },
        ["owner", "repo", "path"],
        [],
      ),
      headers: { ...headers, Accept: "application/vnd.github.raw+json" },
      response: "text",
      output_fields: null,
    },
    writing(
      "github_create_issue",
      "Creates an issue.",
      "/repos/{owner}/{repo}/issues",
      {
        owner,
        repo,
        title: { type: "string", minLength: 1, maxLength: 256 },
        body: text("The text, in Markdown."),
        labels: { type: "array", items: { type: "string", maxLength: 50 }, maxItems: 20 },
      },
      ["owner", "repo", "title"],
    ),
    writing(
      "github_comment",
      "Comments on an issue or a pull request.",
      "/repos/{owner}/{repo}/issues/{number}/comments",
      { owner, repo, number, body: text("The comment, in Markdown.") },
      ["owner", "repo", "number", "body"],
    ),
  ];
}
