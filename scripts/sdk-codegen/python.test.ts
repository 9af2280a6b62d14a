import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { unzipSync } from "fflate";
import { build } from "../../server/lib/build-info.ts";
import { inProject } from "../root.ts";
import type { OpenApi, Operation, Schema } from "./openapi.ts";
import { pythonOf, toSync } from "./python.ts";
import { wheelOf } from "./wheel.ts";

const core = readFileSync(inProject("server/sdks/python/runnel_sdk/_async_client.py"), "utf8");

describe("withoutAsync", () => {
  test.each([
    ["async def run(self) -> str:", "def run(self) -> str:"],
    ["async for event in self:", "for event in self:"],
    ["async with AsyncRunnel() as runnel:", "with Runnel() as runnel:"],
    ["return [one async for one in await first()]", "return [one for one in first()]"],
    ["def __aiter__(self) -> AsyncIterator[types.StreamEvent]:", "def __iter__(self) -> Iterator[types.StreamEvent]:"],
    ["async def _read(self) -> AsyncGenerator[int, None]:", "def _read(self) -> Generator[int, None, None]:"],
    ["await self._http.aclose()", "self._http.close()"],
    ["async for chunk in response.aiter_bytes():", "for chunk in response.iter_bytes():"],
    ["http_client: Optional[httpx.AsyncClient]", "http_client: Optional[httpx.Client]"],
    ["from ._async_client import AsyncClient, at", "from ._client import Client, at"],
    ["from ._waiting import sleep", "from ._blocking import sleep"],
    ["from typing import Any, AsyncGenerator, AsyncIterator", "from typing import Any, Generator, Iterator"],
    ["the tool is asynchronous, and awaited", "the tool is asynchronous, and awaited"],
  ])("%s", (source, blocking) => {
    expect(toSync(source)).toBe(blocking);
  });

  test("leaves no async syntax behind", () => {
    const blocking = toSync(core);
    expect(blocking).toStartWith('"""The client that blocks.');
    expect(blocking.match(/\b(async|await|Async\w*|__a(iter|enter|exit|next)__|asyncio)\b/g)).toBeNull();
    expect(blocking.split("\n").length).toBe(core.split("\n").length);
  });
});

const json = (schema: Schema) => ({ content: { "application/json": { schema } } });
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const operation = (operationId: string, more: Partial<Operation> = {}): Operation => ({
  operationId,
  tags: [],
  summary: "Do it",
  description: "",
  parameters: [],
  responses: {},
  ...more,
});

const document: OpenApi = {
  info: { version: "1.2.3" },
  tags: [],
  paths: {
    "/v1/parcels/{id}": {
      post: operation("parcels.update", {
        parameters: [
          { name: "id", in: "path", required: true, description: "Which.", schema: { type: "string" } },
          { name: "wait", in: "query", required: false, description: "Seconds.", schema: { type: "integer" } },
        ],
        requestBody: { required: true, ...json(ref("UpdateParcelRequest")) },
        responses: { "200": json(ref("Parcel")) },
      }),
    },
    "/v1/parcels": { get: operation("parcels.list", { responses: { "200": json(ref("ParcelList")) } }) },
    "/v1/parcels/{id}/label": { get: operation("parcels.labels.import", { responses: { "200": {} } }) },
  },
  components: {
    responses: {},
    schemas: {
      Parcel: {
        type: "object",
        required: ["id", "items"],
        properties: {
          id: { type: "string", description: 'Its id, by "us".' },
          items: { type: "array", items: { type: "string" } },
          state: { enum: ["sent", "lost", true, null] },
          sender: { anyOf: [ref("Address"), { type: "null" }] },
          labels: { type: "object", additionalProperties: { type: "string" } },
        },
      },
      Address: {
        type: "object",
        required: ["street"],
        properties: {
          street: { type: "string", description: "With its number." },
          lines: { type: "array", items: { type: "string" } },
          place: ref("Place"),
          labels: { type: "object", additionalProperties: { type: "string" } },
        },
      },
      Place: { type: "object", required: ["in"], properties: { in: { type: "string" }, near: { type: "number" } } },
      ParcelList: { type: "object", properties: { data: { type: "array", items: ref("Parcel") } } },
      ParcelSentEvent: {
        type: "object",
        required: ["event", "data"],
        properties: { event: { const: "parcel.sent" }, data: ref("Parcel") },
      },
      Event: {
        oneOf: [ref("ParcelSentEvent")],
        discriminator: {
          propertyName: "event",
          mapping: { "parcel.sent": "#/components/schemas/ParcelSentEvent" },
        },
      },
      UpdateParcelRequest: {
        type: "object",
        required: ["to"],
        properties: {
          from: { type: ["string", "null"], description: 'Who sends it; "" is \\nobody"' },
          to: ref("Address"),
          stops: { type: "array", items: ref("Address") },
          state: { enum: ["sent", "lost"] },
        },
      },
    },
  },
};

describe("pythonOf", () => {
  const files = pythonOf(document);

  test("generates dicts for the objects in requests, to the last level", () => {
    const types = files["types.py"]!;
    expect(types).toContain(
      "class _AddressParamRequired(TypedDict):\n    #: With its number.\n    street: str\n\n\n" +
        "class AddressParam(_AddressParamRequired, total=False):\n    lines: List[str]\n" +
        '    place: "PlaceParam"\n    labels: Mapping[str, str]\n',
    );
    expect(types).toContain(
      '_PlaceParamNeeded = TypedDict("_PlaceParamNeeded", {"in": "str"})\n\n\n' +
        "class PlaceParam(_PlaceParamNeeded, total=False):\n    near: float\n",
    );
  });

  test("generates classes for responses, and none for the requests themselves", () => {
    const types = files["types.py"]!;
    expect(types).toContain('class Parcel(Record):\n    #: Its id, by "us".\n    id: str\n');
    expect(types).toContain('    state: Optional[Literal["sent", "lost", True, None]]\n');
    expect(types).toContain('    sender: Optional["Address"]\n');
    expect(types).toContain("    labels: Optional[Dict[str, str]]\n");
    expect(types).not.toContain("    items:"); // A method of dict has that name.
    expect(types).not.toContain("UpdateParcelRequest");
    expect(types).toContain('StreamEvent = Union[\n    "ParcelSentStreamEvent",\n]\n');
  });

  test("gives every operation a method with its arguments", () => {
    const resources = files["_async_resources.py"]!;
    expect(resources).toContain(`    async def update(
        self,
        id: Union[str, int],
        *,
        to: types.AddressParam,
        from_: Union[Optional[str], NotGiven] = NOT_GIVEN,
        stops: Union[Sequence[types.AddressParam], NotGiven] = NOT_GIVEN,
        state: Union[Literal["sent", "lost"], NotGiven] = NOT_GIVEN,
        wait: Union[int, NotGiven] = NOT_GIVEN,
        idempotency_key: Optional[str] = None,
        extra_headers: Optional[Mapping[str, str]] = None,
`);
    expect(resources).toContain('"from": from_,');
    expect(resources).toContain(") -> AsyncPager[types.Parcel]:");
    expect(resources).toContain("async def import_(");
    expect(files["_resources.py"]).toContain(") -> Pager[types.Parcel]:");
    expect(files["_resources.py"]).toContain("\nclass Runnel(Client):\n");
  });

  test.skipIf(!Bun.which("python3"))("is valid Python", () => {
    const sources = { ...files, "_client.py": toSync(core), "_async_client.py": core };
    // Compiled and not only parsed, because the parser accepts two arguments of one name.
    const program = "import json, sys\nfor name, text in json.load(sys.stdin).items(): compile(text, name, 'exec')";
    const parsed = Bun.spawnSync(["python3", "-W", "error", "-c", program], {
      stdin: Buffer.from(JSON.stringify(sources)),
    });
    expect(parsed.stderr.toString()).toBe("");
  });
});

describe("wheelOf", () => {
  const zone = process.env.TZ;
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });

  test("has the same bytes in every time zone", () => {
    const wheels = ["UTC", "Pacific/Auckland", "America/Lima"].map((name) => {
      process.env.TZ = name;
      return new Bun.CryptoHasher("sha256").update(wheelOf(document)).digest("hex");
    });
    expect(new Set(wheels).size).toBe(1);
  });

  test("has the declared content", () => {
    const files = unzipSync(wheelOf(document));
    const info = `runnel_sdk-${build.version}.dist-info`;
    const text = (name: string) => new TextDecoder().decode(files[name]);
    expect(text(`${info}/METADATA`)).toContain("\nName: runnel-sdk\n");
    expect(text(`${info}/METADATA`)).toContain(`\nVersion: ${build.version}\n`);
    expect(text(`${info}/METADATA`)).toContain(`/docs/clients/runnel_sdk-${build.version}-py3-none-any.whl`);
    expect(text(`${info}/licenses/LICENSE`)).toContain("Apache License");
    expect(
      text(`${info}/RECORD`)
        .trim()
        .split("\n")
        .map((line) => line.split(",")[0]!),
    ).toEqual(Object.keys(files));
    expect(Object.keys(files)).toContain("runnel_sdk/py.typed");
  });
});
