import { expect, spyOn, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Elysia, ValidationError } from "elysia";
import { AppError } from "../domain/errors.ts";
import { oneOf, orNull } from "../lib/schema.ts";
import { errorBody, errorEvent, toAppError } from "./errors.ts";
import { RunInput } from "./schemas.ts";

const publicUrl = () => "https://api.example.com";
const either = Type.Union([Type.String({ maxLength: 2 }), Type.Number(), Type.Boolean()]);
const app = new Elysia()
  .onError(({ error }) => Response.json(toAppError(error).message))
  .post("/", () => "fine", {
    body: Type.Object({
      days: orNull(Type.Integer({ minimum: 1 })),
      word: Type.Optional(oneOf(["a", "b"])),
      either: Type.Optional(either),
    }),
  });

async function saidOf(body: object): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await app.handle(
    new Request("http://localhost/", { method: "POST", headers, body: JSON.stringify(body) }),
  );
  return await response.text();
}

test.each([
  [{ days: 0 }, "days: Must be at least 1."],
  [{ days: "many" }, "days: Must be an integer."],
  [{ days: null, word: "c" }, "word: Must be one of a, b."],
  [{ days: null, either: "long" }, "either: Must have at most 2 characters."],
  [{ days: null, either: [1] }, "either: Must be a string, a number or a boolean."],
])("of %p is said what a client can mend, also where null would do", async (body, message) => {
  expect(await saidOf(body)).toBe(JSON.stringify(message));
});

test("of a part among several kinds is said what is wrong with it, also deep within a list", () => {
  const schema = TypeCompiler.Compile(Type.Object({ input: RunInput }));
  const faultOf = (part: unknown) => {
    const input = [{ role: "user", content: [{ type: "text", text: "Look." }, part] }];
    const { errors } = toAppError(new ValidationError("body", schema as never, { input }));
    return errors?.map(({ message }) => message);
  };
  expect(faultOf({ type: "image_url", image_url: { url: "https://a.example/x.png" } })).toEqual([
    "input[0].content[1].type: Must be one of text, image, audio, file, input_text, input_image, input_file, input_audio.",
  ]);
  expect(faultOf({ type: "text" })).toEqual(["input[0].content[1].text: This parameter is required."]);
  expect(faultOf({ type: "image", uri: "x" })).toEqual([
    "input[0].content[1].uri: There is no such parameter. Did you mean `url`?",
  ]);
  expect(faultOf("Look.")).toEqual(["input[0].content[1]: Must be an object."]);
});

// Took 250 ms of the main thread for a body of 1 MB.
test("the framework does not build its message, which is never shown, from a refused body", async () => {
  const body = JSON.stringify({ days: Array.from({ length: 20_000 }, () => [1]) });
  using stringify = spyOn(JSON, "stringify");
  await app.handle(
    new Request("http://localhost/", { method: "POST", headers: { "content-type": "application/json" }, body }),
  );
  const written = stringify.mock.results.map(({ value }) => String(value).length);
  expect(Math.max(0, ...written)).toBeLessThan(1000);
});

// Each of 90,000 names was validated further, which took 40 ms.
test("an object with thousands of names too many gets that fault alone, and one with a few too many gets all its faults", async () => {
  const schema = TypeCompiler.Compile(
    Type.Object({ map: Type.Record(Type.String(), Type.String(), { maxProperties: 2 }) }),
  );
  const faultsOf = (count: number) => {
    const map = Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, index]));
    return toAppError(new ValidationError("body", schema as never, { map })).errors?.map(({ param }) => param);
  };
  expect(faultsOf(3)).toEqual(["map", "map.n0", "map.n1", "map.n2"]);
  expect(faultsOf(2000)).toEqual(["map"]);
});

// Some clients read only `errors`.
test("a validation error lists its faults, even if there is only one", () => {
  const { error } = errorBody(
    new AppError("validation_failed", "name: It is taken by nobody.", { param: "name" }),
    publicUrl,
  );
  expect(error.errors).toEqual([{ param: "name", code: "invalid_value", message: "name: It is taken by nobody." }]);
  const errors = [{ param: "a", code: "required", message: "a: This parameter is required." }];
  expect(errorBody(new AppError("validation_failed", "a", { errors }), publicUrl).error.errors).toEqual(errors);
  expect(errorBody(new AppError("invalid_json", "no"), publicUrl).error).not.toHaveProperty("errors");
});

test("an error links to its entry in the documentation, at the public URL", () => {
  expect(errorBody(new AppError("rate_limited", "Wait."), publicUrl).error.doc_url).toBe(
    "https://api.example.com/docs/reference/errors/rate_limit_error#rate_limited",
  );
  expect(errorEvent(new AppError("project_archived", "The project is closed."), publicUrl)).toContain(
    '"doc_url":"https://api.example.com/docs/reference/errors/',
  );
});
