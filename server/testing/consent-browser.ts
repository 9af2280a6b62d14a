/** Sends a request without a key and follows no redirect. */
type Send = (path: string, init: { method: string; headers: Record<string, string> }) => Response | Promise<Response>;

export type ConsentBrowser = ReturnType<typeof createConsentBrowser>;

/** A person's browser at the pages of consents: keeps cookies, presses the button, and comes back. */
export function createConsentBrowser(send: Send) {
  const jar = new Map<string, string>();

  async function visit(path: string, method = "GET"): Promise<Response> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await send(path, { method, headers: cookie === "" ? {} : { cookie } });
    for (const text of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      jar.set(name, value);
    }
    return response;
  }

  /** Opens the page of a consent and presses its button. Returns the answer that sends the browser on, or refuses. */
  async function press(url: string): Promise<Response> {
    const { pathname } = new URL(url);
    const page = await visit(pathname);
    if (page.status !== 200) return page;
    await page.text();
    return visit(pathname, "POST");
  }

  return {
    visit,
    press,
    /** Returns the address of the authorization server to which the button of a page leads. */
    async open(url: string): Promise<string> {
      const { status, headers } = await press(url);
      const location = headers.get("location");
      if (status !== 303 || location === null) throw new Error(`${url}: ${status}`);
      return location;
    },
  };
}

const browsers = new WeakMap<object, ConsentBrowser>();

/** The browser of all users of a server of this process. */
export function browserAt({
  app,
}: {
  app: { handle(request: Request): Response | Promise<Response> };
}): ConsentBrowser {
  const browser =
    browsers.get(app) ?? createConsentBrowser((path, init) => app.handle(new Request(`http://localhost${path}`, init)));
  browsers.set(app, browser);
  return browser;
}
