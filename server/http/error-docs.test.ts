import { afterAll, expect, test } from "bun:test";
import { errorCodes, runErrorCodes } from "../core/errors.ts";
import { testApp } from "../testing/test-app.ts";

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

const page = async (): Promise<string> => (await server.send("GET", "/docs/errors")).body;

test("an error's doc_url leads to the place that explains its code, and needs no key", async () => {
  const { body } = await server.send("GET", "/v1/agents");
  const url = new URL(body.error.doc_url, "http://localhost");
  const answer = await server.send("GET", url.pathname);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toStartWith("text/html");
  expect(answer.headers.get("x-request-id")).toStartWith("req_");
  expect(answer.body).toContain(`id="${url.hash.slice(1)}"`);
});

test("the page explains every code, each under one id of its own", async () => {
  const ids = [...(await page()).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(ids.toSorted()).toEqual([...new Set<string>([...errorCodes, ...runErrorCodes])].sort());
});

test("the page needs nothing but its own style, and the browser is told to allow nothing else", async () => {
  const { body, headers } = await server.send("GET", "/docs/errors");
  expect(body).not.toMatch(/<script|<style|\sstyle=|\son\w+=|https?:\/\//);
  const links = [...body.matchAll(/(?:src|href)="([^"#][^"]*)"/g)].map(([, link]) => link);
  expect(links).toEqual(["/docs/errors.css"]);
  expect(headers.get("content-security-policy")).toStartWith("default-src 'none'; style-src 'self';");
  const style = await server.send("GET", "/docs/errors.css");
  expect(style.status).toBe(200);
  expect(style.headers.get("content-type")).toStartWith("text/css");
});
