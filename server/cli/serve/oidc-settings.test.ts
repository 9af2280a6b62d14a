import { expect, test } from "bun:test";
import { type OidcFlags, oidcSettings } from "./oidc-settings.ts";

const whole: OidcFlags = { oidcIssuer: "https://id.example.com/realm", oidcClientId: "runnel", oidcClientSecret: "s" };

test("an issuer is set with all that it takes, and its host stands on the button", () => {
  expect(oidcSettings({ localAccounts: "on" })).toBeNull();
  expect(oidcSettings({ ...whole, oidcAllowedDomains: "Example.com, @b.example", oidcRoleClaim: "a.b" })).toEqual({
    issuer: whole.oidcIssuer!,
    clientId: "runnel",
    clientSecret: "s",
    name: "id.example.com",
    roleClaim: "a.b",
    domains: ["example.com", "b.example"],
    trustEmail: false,
  });
  expect(oidcSettings({ ...whole, oidcAllowedDomains: "example.com", oidcTrustEmail: true })?.trustEmail).toBe(true);
  expect(oidcSettings({ ...whole, oidcName: "Example", oidcIssuer: "http://127.0.0.1:9000" })?.name).toBe("Example");
});

test.each<[string, OidcFlags]>([
  ["--oidc-client-secret", { ...whole, oidcClientSecret: "" }],
  ["--oidc-client-id and --oidc-client-secret", { oidcIssuer: whole.oidcIssuer }],
  ["--oidc-issuer", { oidcAllowedDomains: "example.com" }],
  ["--oidc-issuer", { localAccounts: "off" }],
  ["--oidc-issuer", { oidcTrustEmail: true }],
  ["--oidc-trust-email needs --oidc-allowed-domains", { ...whole, oidcTrustEmail: true }],
  ["plain HTTP on this machine alone", { ...whole, oidcIssuer: "http://id.example.com" }],
  ["plain HTTP on this machine alone", { ...whole, oidcIssuer: "http://127.0.0.1.example.com" }],
  ["takes an address", { ...whole, oidcIssuer: "https://user@id.example.com" }],
  ["takes an address", { ...whole, oidcIssuer: "id.example.com" }],
  ["takes names", { ...whole, oidcAllowedDomains: "example.com,*" }],
])("half of it is refused with what is wrong: %s", (message, flags) =>
  expect(() => oidcSettings(flags)).toThrow(message),
);
