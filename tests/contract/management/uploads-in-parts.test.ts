import { hash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type ArtifactUploadView, type ArtifactView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, part, sha256, someBytes, unique } from "../support/build.ts";
import { ask, call, dialects, type ErrorBody, refused } from "../support/call.ts";
import { credentials, storageDir } from "../support/http.ts";

const partSize = 8 * 1024 * 1024;

/** Names what the storage has of an upload's parts, without its tenant; nothing where the storage is elsewhere. */
function storedParts(uploadId: string): string[] {
  const staging = join(storageDir, "staging");
  if (storageDir === "" || !existsSync(staging)) return [];
  return readdirSync(staging).flatMap((name) => (name.includes(uploadId) ? [name.slice(name.indexOf("-") + 1)] : []));
}

describe.each(dialects)("uploads in parts, %s", (dialect) => {
  const build = builder(dialect);
  const get = async (params: { softwareModuleId: number; uploadId: string }): Promise<ArtifactUploadView> =>
    (await call<ArtifactUploadView>(r.artifactUploads.get, dialect, { params })).json;

  it("console M15: a file of several parts becomes an artifact, which is downloaded byte for byte", async () => {
    const bytes = someBytes(2 * partSize + 1_234);
    const params = await build.uploadInParts(bytes.length, undefined, { filename: "fw.swu", sha256sum: sha256(bytes) });
    for (let offset = 0; offset < bytes.length; offset += partSize) {
      const body = part(bytes.subarray(offset, offset + partSize));
      const { json } = await call<ArtifactUploadView>(r.artifactUploads.sendPart, dialect, { params, query: { offset }, ...body });
      expect(json).toMatchObject({ status: "open", offset: Math.min(offset + partSize, bytes.length), partSize });
    }
    const { json: artifact } = await call<ArtifactView>(r.artifactUploads.complete, dialect, { params });
    expect(artifact).toMatchObject({ providedFilename: "fw.swu", size: bytes.length, hashes: { sha256: sha256(bytes) } });
    const { softwareModuleId } = params;
    const one = { params: { softwareModuleId, artifactId: artifact.id } };
    expect((await call<ArtifactView>(r.artifacts.get, dialect, one)).json.hashes).toEqual(artifact.hashes);
    expect(sha256((await call(r.artifacts.download, dialect, one)).bytes)).toBe(sha256(bytes));
    expect(await get(params)).toMatchObject({ status: "completed", artifactId: artifact.id });
    expect((await call<ArtifactView>(r.artifactUploads.complete, dialect, { params })).json.id).toBe(artifact.id);
  });

  it("console M15: a part at another offset is 409, and says where the upload goes on", async () => {
    const params = await build.uploadInParts(partSize + 1, someBytes(partSize));
    const send = (offset: number) =>
      ask<ErrorBody>(r.artifactUploads.sendPart, dialect, { params, query: { offset }, ...part(someBytes(1)) });
    // files have more bytes than a number of 32 bits
    for (const offset of [0, 1, partSize + 1, 2 ** 31, 10_000 * partSize]) {
      const { status, json } = await send(offset);
      expect([status, json.errorCode, json.info]).toEqual([409, "hawkbit.server.error.artifact.uploadOffset", { offset: partSize }]);
    }
    await refused(r.artifactUploads.complete, dialect, { params }, [409, "artifact.uploadOffset"]);
    expect((await send(partSize)).status).toBe(200);
  });

  it("console M15: a part counts only with its length and its digest", async () => {
    const bytes = someBytes(500);
    const params = await build.uploadInParts(bytes.length);
    const send = (body: Buffer, headers: Record<string, string> = {}) => {
      const octets = part(body);
      return ask(r.artifactUploads.sendPart, dialect, {
        params,
        query: { offset: 0 },
        ...octets,
        headers: { ...octets.headers, ...headers },
      });
    };
    const digest = (of: Buffer) => ({ "content-digest": `sha-256=:${hash("sha256", of, "base64")}:` });
    expect((await send(bytes.subarray(1))).status).toBe(400);
    expect((await send(bytes, digest(someBytes()))).status).toBe(400);
    expect((await send(bytes, { "content-type": "application/json" })).status).toBe(415);
    expect((await get(params)).offset).toBe(0);
    expect((await send(bytes, digest(bytes))).status).toBe(200);
  });

  it("console M15: a file that is not the one that was announced ends the upload", async () => {
    const params = await build.uploadInParts(1_000, someBytes(), { sha256sum: sha256(someBytes()) });
    await refused(r.artifactUploads.complete, dialect, { params }, [400, "artifact.uploadFailed.checksum.sha256.match"]);
    await refused(r.artifactUploads.get, dialect, { params }, [404, "repo.entityNotFound"]);
  });

  it("console M15: a hash that is known only at the end is compared too, whatever was announced", async () => {
    const bytes = someBytes();
    const params = await build.uploadInParts(1_000, bytes, { sha256sum: sha256(bytes) });
    const complete = (query: { sha256sum: string }) => ({ params, query });
    await refused(r.artifactUploads.complete, dialect, complete({ sha256sum: "0123" }), [400, "repo.constraintViolation"]);
    expect((await get(params)).status).toBe("open");
    await refused(r.artifactUploads.complete, dialect, complete({ sha256sum: sha256(someBytes()) }), [
      400,
      "artifact.uploadFailed.checksum.sha256.match",
    ]);
    await refused(r.artifactUploads.get, dialect, { params }, [404, "repo.entityNotFound"]);
    const again = await build.uploadInParts(1_000, bytes);
    const right = { sha256sum: sha256(bytes).toUpperCase(), md5sum: hash("md5", bytes), sha1sum: hash("sha1", bytes) };
    expect((await call<ArtifactView>(r.artifactUploads.complete, dialect, { params: again, query: right })).json.size).toBe(1_000);
  });

  it("console M15: a name that is taken, a locked module and an unknown one are refused before the first byte", async () => {
    const { id } = await build.module();
    const { providedFilename: filename } = await build.upload(id);
    const open = (softwareModuleId: number, body: object) => ({
      params: { softwareModuleId },
      body: { filename: unique(), size: 1, ...body },
    });
    await refused(r.artifactUploads.open, dialect, open(id, { filename }), [409, "repo.entityAlreadyExists"]);
    await call(r.softwareModules.update, dialect, { params: { softwareModuleId: id }, body: { locked: true } });
    await refused(r.artifactUploads.open, dialect, open(id, {}), [423]);
    await refused(r.artifactUploads.open, dialect, open(2_000_000_000, {}), [404, "repo.entityNotFound"]);
    for (const size of [0, -1, 1.5]) await refused(r.artifactUploads.open, dialect, open(id, { size }), [400]);
  });

  it("console M15: an upload that is given up is gone; one that is complete is not", async () => {
    const params = await build.uploadInParts(1_000, someBytes());
    expect(storedParts(params.uploadId)).toEqual(storageDir === "" ? [] : [`${params.uploadId}.parts`]);
    await call(r.artifactUploads.cancel, dialect, { params });
    expect(storedParts(params.uploadId)).toEqual([]);
    await refused(r.artifactUploads.cancel, dialect, { params }, [404, "repo.entityNotFound"]);
    const done = await build.uploadInParts(1_000, someBytes());
    await call(r.artifactUploads.complete, dialect, { params: done });
    await refused(r.artifactUploads.cancel, dialect, { params: done }, [409, "artifact.uploadOffset"]);
  });

  it("console M15: unfinished uploads are listed for whoever may create in the repository, and given up by others", async () => {
    const params = await build.uploadInParts(1_000, someBytes());
    const { auth } = await accessBuilder(dialect).user(["CREATE_REPOSITORY"]);
    const list = async () => {
      const { json } = await call<ArtifactUploadView[]>(r.artifactUploads.list, dialect, { auth });
      return json.filter(({ id }) => id === params.uploadId);
    };
    const { softwareModuleId } = params;
    expect(await list()).toEqual([await get(params)]);
    expect(await get(params)).toMatchObject({ softwareModuleId, openedBy: credentials.adminUser, createdAt: expect.any(Number) });
    await call(r.artifactUploads.cancel, dialect, { params, auth });
    expect(await list()).toEqual([]);
  });

  it("console M15: whoever may not create in the repository gets 403", async () => {
    const params = await build.uploadInParts();
    const { auth } = await accessBuilder(dialect).user(["READ_REPOSITORY"]);
    await refused(r.artifactUploads.get, dialect, { params, auth }, [403]);
    await refused(r.artifactUploads.list, dialect, { auth }, [403]);
    await refused(r.artifactUploads.sendPart, dialect, { params, query: { offset: 0 }, ...part(someBytes()), auth }, [403]);
  });
});
