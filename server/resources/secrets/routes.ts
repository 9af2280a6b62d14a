import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { Secret } from "../../domain/api-types/secret.ts";
import type { Auth } from "../../http/auth.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { listQuery, readPage } from "../../http/page.ts";
import { pathWith } from "../../http/schemas.ts";
import { about } from "../../lib/schema.ts";
import { secretsFault, tooManySecrets } from "../../runtime/agent-loop/tools/secret-texts.ts";
import { PutSecret, secretName } from "./schema.ts";
import type { SecretStore } from "./store.ts";

const params = pathWith({ name: about("The name.", Type.String({ pattern: secretName })) });

export const secretRoutes = ({ auth, secrets }: { auth: Auth; secrets: SecretStore }) =>
  new Elysia({ prefix: "/secrets", tags: ["Secrets"] })
    .use(auth)
    .get("/", ({ principal, request }) => secrets.list(principal, readPage(request.url)), {
      operation: {
        id: "secrets.list",
        summary: "List secrets",
        needs: "admin",
        viewers: true,
        query: listQuery,
        returns: listOf(Secret),
      },
    })
    .get("/:name", ({ principal, params }) => secrets.get(principal, params.name), {
      operation: {
        id: "secrets.retrieve",
        summary: "Retrieve a secret, without its value",
        needs: "admin",
        viewers: true,
        returns: Secret,
      },
      params,
    })
    .put(
      "/:name",
      ({ principal, params, body }) => {
        checkSecret(params.name, body);
        return secrets.put(principal, params.name, body);
      },
      {
        operation: {
          id: "secrets.set",
          summary: "Set a secret, or give it another value",
          needs: "admin",
          path: { name: about("The name.", Type.String({ pattern: secretName })) },
          returns: Secret,
        },
        params: pathWith({ name: Type.String() }),
        body: PutSecret,
      },
    )
    .delete("/:name", ({ principal, params }) => secrets.remove(principal, params.name), {
      operation: {
        id: "secrets.delete",
        summary: "Delete a secret",
        needs: "admin",
        returns: Deleted,
      },
      params,
    });

const isName = new RegExp(secretName);
// Refuses characters that headers cannot carry: `$(cat file)` drops the final line break, but copied text may have one.
const fitsHeader = /^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;

function checkSecret(name: string, { value }: PutSecret): void {
  const faults = [];
  if (!isName.test(name)) faults.push(fault("name", "Must have up to 64 letters, digits and _, and no digit first."));
  if (!fitsHeader.test(value))
    faults.push(fault("value", "Must be one line of characters that a header can carry, no blank at either end."));
  else if (secretsFault({ headers: { value }, signing_secret: "" })) faults.push(fault("value", tooManySecrets));
  throwIfInvalid(faults);
}
