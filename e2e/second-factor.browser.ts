import { createHmac } from "node:crypto";
import { expect, type Locator, type Page, test } from "@playwright/test";
import decodeQR from "qr/decode.js";
import { type Runnel, startRunnel } from "./harness.ts";
import { account, expectAccessible, recordFaults, setUpAccount } from "./page-checks.ts";

// Second factors of accounts in the compiled executable, with a virtual authenticator in the browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

const { email, password } = account;

/** Adds a virtual device that creates passkeys and confirms for the user. */
async function addDevice(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Returns the code of an authenticator app, now or half a minute later: a code is valid slightly before its time. */
function codeOf(secret: string, later = 0): string {
  const bits = [...secret].map((one) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(one).toString(2).padStart(5, "0"));
  const bytes = Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later));
  const mac = createHmac("sha1", bytes).update(counter).digest();
  return String((mac.readUInt32BE(mac[19]! & 15) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, "0");
}

/** Returns the dark modules of a QR code, eight pixels wide, as a camera reads them. */
async function scanCode(code: Locator): Promise<string> {
  const size = Number((await code.getAttribute("viewBox"))?.split(" ").at(-1)) * 8;
  const data = new Uint8Array(size * size * 3).fill(255);
  for (const [, x, y] of ((await code.locator("path").getAttribute("d")) ?? "").matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let row = 0; row < 8; row++) {
      const at = ((Number(y) * 8 + row) * size + Number(x) * 8) * 3;
      data.fill(0, at, at + 24);
    }
  return decodeQR({ width: size, height: size, data });
}

const signOut = (page: Page): Promise<void> => page.context().clearCookies();

test("a person adds an authenticator app and a passkey, signs in by each, and the operator removes them", async ({
  page,
}) => {
  test.setTimeout(180_000);
  const complaints = recordFaults(page);
  const url = server.url.replace("127.0.0.1", "localhost"); // Passkeys require a host name.
  await addDevice(page);
  await setUpAccount(page, server);
  await page.goto(`${url}/dashboard/login`);
  const login = async (): Promise<void> => {
    await page.goto(`${url}/dashboard/login?to=/account`);
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  };
  const section = (name: string) => page.getByRole("region", { name });
  await login();

  await test.step("the app is added by the displayed key, and a first code", async () => {
    const part = section("Authenticator app");
    await part.getByRole("button", { name: "Add an authenticator app" }).click();
    await part.getByLabel("Your password").fill(password);
    await expectAccessible(page, "password for an app");
    await page.keyboard.press("Enter");
    const secret = (await part.locator("[data-secret]").textContent()) ?? "";
    await expectAccessible(page, "key of an app");
    expect(await scanCode(part.getByRole("img", { name: "QR code for the app" }))).toContain(`secret=${secret}`);
    await part.getByLabel("Code that the app shows").fill(codeOf(secret));
    await page.keyboard.press("Enter");
    const codes = part.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
    await expect(codes).toHaveCount(10);
    await expectAccessible(page, "recovery codes");
    const recovery = (await codes.first().textContent()) ?? "";
    await part.getByRole("button", { name: "I've saved them" }).click();
    await expect(part).toContainText("10 of 10 recovery codes");

    await signOut(page);
    await login();
    await expect(page.getByLabel("Code")).toBeVisible();
    await expectAccessible(page, "code at the login");
    await page.getByLabel("Code").fill("000000");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("alert")).toContainText("The code is wrong");
    await page.getByLabel("Code").fill(codeOf(secret, 1));
    await page.keyboard.press("Enter");
    await expect(part).toContainText("10 of 10 recovery codes");
    await signOut(page);
    await login();
    await page.getByLabel("Code").fill(recovery);
    await page.keyboard.press("Enter");
    await expect(part).toContainText("9 of 10 recovery codes");
  });

  await test.step("a passkey signs in without a password and without a code", async () => {
    const part = section("Passkeys");
    await part.getByRole("button", { name: "Add a passkey" }).click();
    await part.getByLabel("Name of the passkey").fill("Virtual device");
    await part.getByLabel("Your password").fill(password);
    await page.keyboard.press("Enter");
    await expect(part.getByRole("list", { name: "Passkeys" })).toContainText("Virtual device");
    await expectAccessible(page, "passkeys");
    await signOut(page);
    await page.goto(`${url}/dashboard/login?to=/account`);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await expect(part.getByRole("list", { name: "Passkeys" })).toContainText("used");
  });

  await test.step("the operator removes both, and the password is enough", async () => {
    const { code, stdout } = await server.command("admin", "remove-second-factor", email);
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 passkey")]);
    await page.goto(`${url}/dashboard/login?to=/account`);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await expect(page.getByRole("alert")).toContainText("belongs to no account");
    await login();
    await expect(section("Authenticator app").getByRole("button", { name: "Add an authenticator app" })).toBeVisible();
  });
  expect(complaints).toEqual([]);
});
