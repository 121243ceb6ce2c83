import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { path, serveRoutes } from "../test-support/routes.ts";
import { ask, user } from "../test-support/serve.ts";

let served: Awaited<ReturnType<typeof serveRoutes>>;
beforeAll(async () => {
  served = await serveRoutes();
});
afterAll(() => served.http.close(0));

describe("the media type of an answer", () => {
  const hal = "application/hal+json;charset=UTF-8";
  const json = "application/json;charset=UTF-8";
  it.each([
    [undefined, hal],
    ["*/*", hal],
    ["application/hal+json", hal],
    ["application/json", json],
    ["application/json;charset=UTF-8", json],
    ["Application/JSON", json],
    ["text/html, application/json;q=0.9, */*;q=0.8", json],
    ["application/*", hal],
    ["application/cbor", "application/cbor"],
    ["application/cbor;q=0.4, application/json;q=0.5", json],
    ["application/json;q=0.4, Application/CBOR;q=0.5", "application/cbor"],
    ["application/*;q=0.4, application/cbor", "application/cbor"],
    ["application/hal+json;q=0, */*", json],
  ])("for Accept %s is %s", async (accept, type) => {
    const answer = await ask(served, path, { headers: accept === undefined ? {} : { accept } });
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, type]);
  });

  it.each(["application/cbor;q=0", "application/atom+xml", "text/plain", "application/json;q=0"])("406 for Accept %s", async (accept) => {
    expect((await ask(served, path, { headers: { accept } })).status).toBe(406);
  });

  it("is not negotiated if there is no JSON", async () => {
    const answer = await ask(served, `${path}/raw`, { headers: { accept: "application/octet-stream" } });
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([200, "text/plain", "0f  file.bin"]);
    const posted = await ask(served, `${path}/deploymentBase/11/feedback`, {
      method: "POST",
      body: '{"status":"closed"}',
      headers: { "content-type": "application/json", accept: "text/html" },
    });
    expect([posted.status, posted.headers["content-length"], posted.text]).toEqual([200, "0", ""]);
  });
});

describe("a JSON answer", () => {
  it("has its length in bytes and a tag over the body", async () => {
    const answer = await ask(served, path);
    expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.text)));
    expect(answer.headers["transfer-encoding"]).toBeUndefined();
    expect(answer.headers["etag"]).toMatch(/^"0[0-9a-f]{32}"$/);
  });

  it("is 304 without a body for its own tag, in a list and weak too, but not for *", async () => {
    const etag = (await ask(served, path)).headers["etag"] ?? "";
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const answer = await ask(served, path, { headers: { "if-none-match": tag } });
      expect([answer.status, answer.text, answer.headers["etag"]]).toEqual([304, "", etag]);
    }
    for (const tag of ["*", '"x"']) expect((await ask(served, path, { headers: { "if-none-match": tag } })).status).toBe(200);
  });

  it("to HEAD has the same headers, no body and no tag", async () => {
    const get = await ask(served, path);
    const head = await ask(served, path, { method: "HEAD" });
    expect([head.status, head.text, head.headers["etag"]]).toEqual([200, "", undefined]);
    expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
    expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
  });

  it("has no tag in the artifact list", async () => {
    const answer = await ask(served, `${path}/artifacts`);
    expect([answer.text, answer.headers["etag"], answer.headers["content-length"]]).toEqual(["[]", undefined, "2"]);
  });

  it("may be text that is JSON already", async () => {
    expect((await ask(served, `${path}/deploymentBase/11?c=7`)).json).toEqual({ id: "11", c: 7 });
  });
});

describe("a request body", () => {
  const url = `${path}/deploymentBase/11/feedback`;
  const post = (body: string | Buffer | undefined, type: string | undefined) =>
    ask(served, url, {
      method: "POST",
      ...(body === undefined ? {} : { body }),
      headers: type === undefined ? {} : { "content-type": type },
    });

  it.each([
    ['{"status":"closed","extra":1}', "application/json", 200],
    ['{"status":"closed"}', "application/json; charset=UTF-8", 200],
    ['{"status":"closed"}', "application/hal+json", 415],
    ['{"status":"closed"}', "text/plain", 415],
    ['{"status":"closed"}', "application/json; charset=latin1", 200],
    ['{"status":"closed"}', "application/json;charset", 200],
    ['{"status":"closed"}', "application/json; charset=klingon", 415],
    ['{"status":"closed"}', "application/json; charset=utf-7777", 415],
    ['{"status":', "application/json; charset=latin1", 400],
    ["null", "application/json; charset=latin1", 400],
    ['{"status":"closed"}', undefined, 415],
    ['{"status":"CLOSED"}', "application/json", 400],
    ['{"status":', "application/json", 400],
    ["null", "application/json", 400],
    ["", "application/json", 400],
    [undefined, undefined, 400],
    [`{"status":"closed","note":"${"x".repeat(1_100_000)}"}`, "application/json", 413],
  ])("%.40s as %s -> %i", async (body, type, status) => {
    expect((await post(body, type)).status).toBe(status);
  });

  it.each([
    ["iso-8859-1", Buffer.from('{"status":"closed","note":"Gerät"}', "latin1"), "Gerät"],
    ['"ISO-8859-1"', Buffer.from('{"status":"closed","note":"Gerät"}', "latin1"), "Gerät"],
    ["utf8", Buffer.from('{"status":"closed","note":"Gerät"}'), "Gerät"],
    ["utf-16", Buffer.from('\ufeff{"status":"closed","note":"Gerät"}', "utf16le"), "Gerät"],
    ["utf-16", Buffer.from('\ufeff{"status":"closed","note":"Gerät"}', "utf16le").swap16(), "Gerät"],
    ["koi8-r", Buffer.concat([Buffer.from('{"status":"closed","note":"'), Buffer.from([0xca]), Buffer.from('"}')]), "й"],
  ])("is read in the charset %s that it names", async (charset, body, note) => {
    const answer = await post(body, `application/json;charset=${charset}`);
    expect([answer.status, decodeURIComponent(String(answer.headers["x-seen"]))]).toEqual([200, note]);
  });

  describe.each([
    ["utf-8", (text: string) => Buffer.from(text)],
    ["utf8", (text: string) => Buffer.from(text)],
    ["iso-8859-1", (text: string) => Buffer.from(text, "latin1")],
    ["utf-16le", (text: string) => Buffer.from(text, "utf16le")],
    ["utf-16be", (text: string) => Buffer.from(text, "utf16le").swap16()],
    ["utf-16", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
    ["utf-32le", (text: string) => Buffer.from(Uint32Array.from(text, (one) => one.charCodeAt(0)).buffer)],
  ])("in the charset %s", (charset, encode) => {
    const type = `application/json;charset=${charset}`;

    it.each(["x", '\\"', "\\\\"])("with more members than a report may have is refused, whatever its texts contain: %s", async (note) => {
      const answer = await post(encode(`{"status":"closed","note":"${note}","more":[${"0,".repeat(50_000)}0]}`), type);
      expect([answer.status, answer.json]).toMatchObject([403, { errorCode: "hawkbit.server.error.quota.tooManyEntries" }]);
    });

    it("may have any number of commas in its texts", async () => {
      expect((await post(encode(`{"status":"closed","more":"\\"${",".repeat(100_000)}"}`), type)).status).toBe(200);
    });

    it("is no JSON if it ends early, and missing if it is empty", async () => {
      expect((await post(encode('{"status":"closed"'), type)).status).toBe(400);
      expect((await post("", type)).status).toBe(400);
    });
  });

  it("that names two charsets is limited too, or refused", async () => {
    const body = Buffer.from(`{"status":"closed","note":"\\"","more":[${"0,".repeat(50_000)}0]}`, "utf16le");
    for (const charsets of ["charset=utf-8;charset=utf-16le", "charset=utf-16le;charset=utf-8"])
      expect((await post(body, `application/json;${charsets}`)).status).toBeGreaterThanOrEqual(400);
  });

  it.each(["application/json", "application/json;charset=utf-8", "application/json;charset=utf8"])(
    "that is invalid in its charset is 400: %s",
    async (type) => {
      expect((await post(Buffer.from('{"status":"closed","note":"Gerät"}', "latin1"), type)).status).toBe(400);
      expect((await post(Buffer.from('{"status":"closed","note":"Gerät"}'), type)).status).toBe(200);
    },
  );

  describe("of the management interface", () => {
    const put = (url: string, body: string, type = "application/json") =>
      ask(served, url, { method: "PUT", identity: user("READ_TARGET"), headers: { "content-type": type }, body });

    it.each([
      ["an object", "/rest/v1/targets/d1", `{"more":[${"{},".repeat(300_000)}{}]}`, [400, "hawkbit.server.error.repo.constraintViolation"]],
      [
        "names",
        "/rest/v1/targets/d1",
        `{${Array.from({ length: 60_000 }, (_, n) => `"k${n}":0`).join(",")}}`,
        [400, "hawkbit.server.error.repo.constraintViolation"],
      ],
      ["a list", "/rest/v1/lists", `[${"{},".repeat(300_000)}{}]`, [429, "hawkbit.server.error.quota.tooManyEntries"]],
    ])("with more members than it may have is refused before it is parsed: %s", async (_, url, body, expected) => {
      // nothing was parsed, so no syntax error can be reported
      for (const type of ["application/json", "application/json;charset=iso-8859-1"])
        for (const text of [body, body.slice(0, -1)]) {
          const { status, json } = await put(url, text, type);
          expect([status, (json as { errorCode: string }).errorCode]).toEqual(expected);
        }
    });

    it("may be as long as its lists", async () => {
      expect((await put("/rest/v1/targets/d1", `{"more":[${'{"a":1,"b":2},'.repeat(9_000)}{}]}`)).status).toBe(204);
      expect((await put("/rest/v1/lists", `[${'{"name":"a","more":[1,2,3]},'.repeat(4_999)}{}]`)).status).toBe(204);
    });
  });

  it("that cannot be read is reported with a fixed text", async () => {
    const answer = await post("{", "application/json");
    expect(answer.json).toEqual({
      exceptionClass: "org.eclipse.hawkbit.rest.exception.MessageNotReadableException",
      errorCode: "hawkbit.server.error.rest.body.notReadable",
      message: "The given request body is not well formed",
      parameters: ["request is no JSON from line 1, column 2 on"],
    });
  });

  it("that is sent in chunks and empty counts as missing", async () => {
    const answer = await ask(served, url, {
      method: "POST",
      headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
    });
    expect(answer.status).toBe(400);
  });

  it("may be HAL for the management interface", async () => {
    const headers = { "content-type": "application/hal+json;charset=UTF-8" };
    const answer = await ask(served, "/api/mgmt/v1/targets/d1", { method: "PUT", body: "{}", headers, identity: user("READ_TARGET") });
    expect([answer.status, answer.headers["content-length"]]).toEqual([200, "0"]);
  });

  it("may be left out where it is optional", async () => {
    expect((await ask(served, `${path}/optional`, { method: "POST" })).headers["x-seen"]).toBe("null");
    const headers = { "content-type": "application/json" };
    expect((await ask(served, `${path}/optional`, { method: "POST", body: '{"a":1}', headers })).headers["x-seen"]).toBe('{"a":1}');
    expect((await ask(served, `${path}/optional`, { method: "POST", body: '{"a":"x"}', headers })).status).toBe(400);
  });
});
