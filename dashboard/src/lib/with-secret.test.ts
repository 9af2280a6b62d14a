import { expect, test } from "bun:test";
import { codeLanguages, requestCode } from "./request-code.ts";
import { withSecret } from "./with-secret.ts";

test.each([...codeLanguages])("%s code with the secret in it asks for no variable any more", (language) => {
  const code = requestCode(language, "https://localhost:8443", { method: "GET", path: "/v1/me" });
  const whole = withSecret(language, code, "sk_test_$&abc");
  expect(whole).toContain("Bearer sk_test_$&abc");
  expect(whole).not.toContain("RUNNEL_API_KEY");
});
