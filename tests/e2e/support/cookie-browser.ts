export interface Page {
  readonly url: URL;
  readonly answer: Response;
}

/** A browser with its cookies. It stops before `until`, and else follows every redirection. */
export function createBrowser() {
  const cookies = new Map<string, string>();
  const header = () => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  async function open(url: URL, { form, until }: { form?: URLSearchParams; until?: (next: URL) => boolean } = {}): Promise<Page> {
    const init = form === undefined ? {} : { method: "POST", body: form };
    const answer = await fetch(url, { redirect: "manual", headers: { cookie: header() }, ...init });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = "", value = "", more = ""] = /^([^=]+)=([^;]*)(.*)$/.exec(cookie) ?? [];
      if (/Max-Age=0(;|$)/i.test(more)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    if (location === null) return { url, answer };
    const next = new URL(location, url);
    return until?.(next) ? { url: next, answer } : open(next, until === undefined ? {} : { until });
  }
  return { open, cookies, header };
}

export type Browser = ReturnType<typeof createBrowser>;
