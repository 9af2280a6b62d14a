import { expect, test } from "bun:test";
import { parseExact } from "./exact-numbers.ts";
import { checkSchema, validateAgainst } from "./json-schema.ts";

const schemaOf = (text: string) => parseExact<Record<string, unknown>>(text);

const faultsOf = (schema: string, value: string): string[] =>
  validateAgainst(schemaOf(schema), parseExact(value)).map(({ path, message }) => `${path} ${message}`);

test.each([
  ['{"type":"integer"}', "2512292042121000001", []],
  ['{"type":"number"}', "0.1234567890123456789", []],
  ['{"type":["string","null"]}', "2512292042121000001", [" must be either string or null"]],
  ['{"type":"string"}', "2512292042121000001", [" must be string"]],
  ['{"type":"object"}', "2512292042121000001", [" must be object"]],
  ['{"type":"integer"}', "0.1234567890123456789", [" must be integer"]],
  ['{"type":"array","items":{"type":"integer"}}', '[1,2512292042121000001,"x"]', ["[2] must be integer"]],
  ['{"const":2512292042121000001}', "2512292042121000001", []],
  ['{"const":2512292042121000001}', "2512292042121000002", [" must be equal to constant"]],
  ['{"const":{"id":2512292042121000001}}', '{"id":2512292042121000001}', []],
  ['{"enum":[1,2512292042121000001]}', "2512292042121000000", [" must be equal to one of the allowed values"]],
  ['{"enum":[1,2512292042121000001]}', "1", []],
  ['{"maximum":9223372036854775807}', "9223372036854775807", []],
  ['{"maximum":9223372036854775807}', "9223372036854775808", [" must be <= 9223372036854775807"]],
  ['{"maximum":9223372036854775807}', "1e19", [" must be <= 9223372036854775807"]],
  ['{"maximum":9223372036854775807}', "1e999999999", [" must be <= 9223372036854775807"]],
  ['{"maximum":9223372036854775807}', "3", []],
  ['{"exclusiveMinimum":-9223372036854775808}', "-9223372036854775808", [" must be > -9223372036854775808"]],
  ['{"minimum":9007199254740993}', "9007199254740993.5", []],
  ['{"multipleOf":10}', "2512292042121000001", [" must be multiple of 10"]],
  ['{"multipleOf":10}', "2512292042121000010", []],
  ['{"multipleOf":0.01}', "2512292042121000001", []],
  [
    '{"items":{"multipleOf":0.5}}',
    "[2512292042121000001,0.7]",
    ["[1] must be multiple of 0.5", '[1] must match "else" schema'],
  ],
  ['{"uniqueItems":true}', "[2512292042121000001,2512292042121000002]", []],
  ['{"uniqueItems":true}', "[2512292042121000001,2512292042121000001]", [" must not have duplicate items"]],
  ['{"maxLength":9223372036854775807,"type":"string"}', '"x"', []],
  ['{"properties":{"rawJSON":{"type":"string"}},"required":["rawJSON"]}', "2512292042121000001", []],
  ['{"$ref":"#/$defs/id","$defs":{"id":{"type":"integer"}}}', "2512292042121000001", []],
])("the schema %s judges %s by all its digits", (schema, value, faults) => {
  expect(checkSchema(schemaOf(schema))).toEqual([]);
  expect(faultsOf(schema, value)).toEqual(faults);
});
