import { type ArtifactView, routeTable as r } from "@harrier/contracts";
import { multipart } from "@harrier/testkit";
import { describe, expect, it } from "vitest";
import { builder, md5, sha1, sha256, someBytes } from "../support/build.ts";
import { ask, type CallOptions, call, dialects, type ErrorBody, refused } from "../support/call.ts";

type Parts = Parameters<typeof multipart>[0];

describe.each(dialects)("artifacts, %s", (dialect) => {
  const build = builder(dialect);
  const quota = dialect === "spec" ? 403 : 429;
  const form = (softwareModuleId: number, parts: Parts, query: CallOptions["query"] = {}): CallOptions => {
    const { type, body } = multipart(parts);
    return { params: { softwareModuleId }, query, body, headers: { "content-type": type } };
  };
  const upload = async (id: number, parts: Parts, query: CallOptions["query"] = {}) =>
    (await call<ArtifactView>(r.artifacts.upload, dialect, form(id, parts, query))).json;
  const noUpload = (id: number, parts: Parts, expected: readonly [number, string?], query: CallOptions["query"] = {}) =>
    refused(r.artifacts.upload, dialect, form(id, parts, query), expected);
  const list = async (softwareModuleId: number, query: CallOptions["query"] = {}) =>
    (await call<ArtifactView[]>(r.artifacts.list, dialect, { params: { softwareModuleId }, query })).json;
  const one = (softwareModuleId: number, artifactId: number): CallOptions => ({ params: { softwareModuleId, artifactId } });

  it("management 12.35 an upload answers with the size and checksums of the file", async () => {
    const { id } = await build.module();
    const bytes = someBytes(100_000);
    const artifact = await upload(id, [{ filename: "image.bin", bytes }]);
    expect(artifact).toMatchObject({
      hashes: { sha1: sha1(bytes), md5: md5(bytes), sha256: sha256(bytes) },
      size: bytes.length,
      providedFilename: "image.bin",
    });
    expect(Object.keys(artifact._links).sort()).toEqual(["download", "self"]);
    expect(artifact._links.download?.href).toMatch(new RegExp(`/softwaremodules/${id}/artifacts/${artifact.id}/download$`));
    expect((await call<ArtifactView>(r.artifacts.get, dialect, one(id, artifact.id))).json).toEqual(artifact);
  });

  it("management 12.36 the file name comes from a field before or after the file, from the query, or from the file itself", async () => {
    const { id } = await build.module();
    const file = () => ({ filename: "own.bin", bytes: someBytes() });
    const named = async (parts: Parts, query = {}) => (await upload(id, parts, query)).providedFilename;
    expect(await named([["filename", "field.bin"], file()])).toBe("field.bin");
    expect(await named([file(), ["filename", "after.bin"]])).toBe("after.bin");
    expect(await named([file()], { filename: "query.bin" })).toBe("query.bin");
    expect(await named([file()])).toBe("own.bin");
    expect(await named([{ bytes: someBytes(), filename: "täst 1.bin" }])).toBe("täst 1.bin");
    expect((await list(id)).map(({ providedFilename }) => providedFilename)).toEqual([
      "field.bin",
      "after.bin",
      "query.bin",
      "own.bin",
      "täst 1.bin",
    ]);
  });

  it("management 12.37 a file name is unique within a module; many names may have the same content", async () => {
    const { id } = await build.module();
    const bytes = someBytes();
    const first = await upload(id, [{ filename: "a", bytes }]);
    await noUpload(id, [{ filename: "a", bytes: someBytes() }], [409, "repo.entityAlreadyExists"]);
    await noUpload(id, [{ filename: "x", bytes: someBytes() }], [409, "repo.entityAlreadyExists"], { filename: "a" });
    const second = await upload(id, [{ filename: "b", bytes }]);
    expect([second.hashes, second.id === first.id]).toEqual([first.hashes, false]);
    await call(r.artifacts.delete, dialect, one(id, first.id));
    expect((await ask(r.artifacts.download, dialect, one(id, second.id))).bytes.equals(bytes)).toBe(true);
    await upload(id, [{ filename: "a", bytes: someBytes() }]);
  });

  it.each(["md5", "sha1", "sha256"] as const)("management 12.38 a %s that differs is refused and nothing is kept", async (kind) => {
    const { id } = await build.module();
    const file = { filename: "f", bytes: someBytes() };
    const wrong = { md5, sha1, sha256 }[kind](Buffer.from("other"));
    const code = `artifact.uploadFailed.checksum.${kind}.match`;
    await noUpload(id, [[`${kind}sum`, wrong], file], [400, code]);
    await noUpload(id, [file, [`${kind}sum`, wrong]], [400, code]);
    await noUpload(id, [file], [400, code], { [`${kind}sum`]: wrong });
    await noUpload(id, [file, [`${kind}sum`, "zz"]], [400, code]);
    expect(await list(id)).toEqual([]);
    await upload(id, [file, [`${kind}sum`, { md5, sha1, sha256 }[kind](file.bytes).toUpperCase()]]);
  });

  it("management 12.38 correct checksums are accepted, in upper case too", async () => {
    const { id } = await build.module();
    const bytes = someBytes();
    const sums: Parts = [
      ["md5sum", md5(bytes)],
      ["sha1sum", sha1(bytes).toUpperCase()],
      ["sha256sum", sha256(bytes)],
    ];
    expect((await upload(id, [{ filename: "f", bytes }, ...sums])).hashes.sha1).toBe(sha1(bytes));
  });

  it("management 12.39 an empty file, no file and a file name with markup are rejected", async () => {
    const { id } = await build.module();
    await noUpload(id, [{ filename: "f", bytes: Buffer.alloc(0) }], [400, "repo.constraintViolation"]);
    await noUpload(id, [["filename", "f"]], [400]);
    await noUpload(id, [{ name: "other", filename: "f", bytes: someBytes() }], [400]);
    await noUpload(id, [], [400]);
    const file = { filename: "<img src=x>", bytes: someBytes() };
    for (const answer of [
      await noUpload(id, [file], [400, "repo.constraintViolation"]),
      await noUpload(id, [{ ...file, filename: "f" }], [400, "repo.constraintViolation"], { filename: "<img src=x>" }),
    ]) {
      expect(answer.json.message).toContain("Invalid characters in string");
    }
    await noUpload(id, [{ ...file, filename: "n".repeat(257) }], [400, "repo.constraintViolation"]);
    await noUpload(id, [{ ...file, filename: "a\u0000b" }], [400]);
    expect(await list(id)).toEqual([]);
  });

  it.each(["../x", "..", ".", "a/b", "/etc/x", "a\\b", "a\u0001b", "a\u0085b"])(
    "management 12.39 the given name %j is 400, a field or in the query; a file's own is cut to its end",
    async (filename) => {
      const { id } = await build.module();
      const file = { filename: "dir/own.bin", bytes: someBytes() };
      const violation = [400, "repo.constraintViolation"] as const;
      await noUpload(id, [["filename", filename], file], violation);
      await noUpload(id, [file], violation, { filename });
      expect(await list(id)).toEqual([]);
      expect((await upload(id, [file])).providedFilename).toBe("own.bin");
    },
  );

  it("management 4.3 a body that is no form is 415 or 400, an unknown module 404", async () => {
    const { id } = await build.module();
    const params = { softwareModuleId: id };
    await refused(r.artifacts.upload, dialect, { params, body: "{}", headers: { "content-type": "application/json" } }, [415]);
    await refused(r.artifacts.upload, dialect, { params, body: "x", headers: { "content-type": "multipart/form-data" } }, [
      400,
      "artifact.uploadFailed",
    ]);
    await refused(r.artifacts.upload, dialect, { params, body: "x", headers: { "content-type": "multipart/form-data; boundary=y" } }, [
      400,
      "artifact.uploadFailed",
    ]);
    await noUpload(2_000_000_000, [{ filename: "f", bytes: someBytes() }], [404, "repo.entityNotFound"]);
    await refused(r.artifacts.list, dialect, { params: { softwareModuleId: 2_000_000_000 } }, [404, "repo.entityNotFound"]);
    expect(await list(id)).toEqual([]);
  });

  it("management 12.40 a module has 50 artifacts at most", async () => {
    const { id } = await build.module();
    const bytes = someBytes(10);
    await Promise.all(Array.from({ length: 50 }, (_, n) => upload(id, [{ filename: `f${n}`, bytes }])));
    await noUpload(id, [{ filename: "one more", bytes }], [quota, "quota.tooManyEntries"]);
    expect(await list(id)).toHaveLength(50);
  });

  it("management 12.41 the list is a plain array, with download links only in full", async () => {
    const { id } = await build.module();
    await build.upload(id);
    const links = async (query: CallOptions["query"]) => Object.keys((await list(id, query))[0]?._links ?? {}).sort();
    for (const query of [{}, { representation: "compact" }, { representation: "odd" }]) expect(await links(query)).toEqual(["self"]);
    for (const query of [{ representation: "full" }, { representation: "FULL" }]) expect(await links(query)).toEqual(["download", "self"]);
    // The gateway is the only address handler, and its address is the download.
    expect(await links({ representation: "full", useartifacturlhandler: true })).toEqual(["download", "self"]);
    expect(await links({ useartifacturlhandler: true })).toEqual(["self"]);
  });

  it("management 12.42 a download has its headers, answers a range, and obeys conditions", async () => {
    const { id } = await build.module();
    const artifact = await build.upload(id, someBytes(5_000), "image 1.bin");
    const get = (headers: Record<string, string> = {}) => ask(r.artifacts.download, dialect, { ...one(id, artifact.id), headers });
    const { status, headers, bytes } = await get();
    expect([status, bytes.equals(artifact.bytes)]).toEqual([200, true]);
    expect(headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": "5000",
      "content-disposition": "attachment;filename=image 1.bin",
      "accept-ranges": "bytes",
      "content-range": "bytes 0-4999/5000",
      "x-content-type-options": "nosniff",
      "last-modified": new Date(artifact.createdAt).toUTCString(),
    });
    expect(String(headers["etag"]).replaceAll('"', "")).toBe(artifact.hashes.sha1);
    const part = await get({ range: "bytes=0-9" });
    expect([part.status, part.bytes.equals(artifact.bytes.subarray(0, 10)), part.headers["content-range"]]).toEqual([
      206,
      true,
      "bytes 0-9/5000",
    ]);
    const bad = await get({ range: "bytes=9-1" });
    expect([bad.status, bad.text, bad.headers["content-range"]]).toEqual([416, "", "bytes */5000"]);
    const other = await get({ "if-match": '"other"' });
    expect([other.status, other.text]).toEqual([412, ""]);
    expect((await get({ "if-match": artifact.hashes.sha1 })).status).toBe(200);
  });

  it("management 12.44 a locked module neither takes nor loses artifacts", async () => {
    const { id } = await build.module();
    const artifact = await build.upload(id);
    const lock = (locked: boolean) => call(r.softwareModules.update, dialect, { params: { softwareModuleId: id }, body: { locked } });
    await lock(true);
    await noUpload(id, [{ filename: "f", bytes: someBytes() }], [423, "locked"]);
    await refused(r.artifacts.delete, dialect, one(id, artifact.id), [423, "locked"]);
    expect(await list(id)).toHaveLength(1);
    await lock(false);
    await upload(id, [{ filename: "f", bytes: someBytes() }]);
    await call(r.artifacts.delete, dialect, one(id, artifact.id));
    expect((await list(id)).map(({ providedFilename }) => providedFilename)).toEqual(["f"]);
  });

  it("management 12.45 an artifact of another module is 404", async () => {
    const [a, b] = await build.modules({}, {});
    const artifact = await build.upload(a?.id as number);
    const foreign = one(b?.id as number, artifact.id);
    for (const route of [r.artifacts.get, r.artifacts.delete, r.artifacts.download]) {
      await refused(route, dialect, foreign, [404, "repo.entityNotFound"]);
      await refused(route, dialect, one(2_000_000_000, artifact.id), [404, "repo.entityNotFound"]);
    }
    expect(await list(a?.id as number)).toHaveLength(1);
  });

  it("management 12.37 of concurrent uploads of one file name one wins", async () => {
    const { id } = await build.module();
    const tries = Array.from({ length: 5 }, () =>
      ask<ErrorBody>(r.artifacts.upload, dialect, form(id, [{ filename: "same", bytes: someBytes() }])),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 409, 409, 409, 409]);
    expect(await list(id)).toHaveLength(1);
  });
});
