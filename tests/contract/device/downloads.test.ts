import { type DeviceArtifactView, type Route, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build, md5, sha1, unique } from "../support/build.ts";
import { device, report } from "../support/device.ts";
import { baseUrl, credentials } from "../support/http.ts";
import { view } from "../support/look.ts";
import { eventually, pause } from "../support/wait.ts";

const addresses: [string, Route, Route][] = [
  ["classic", r.device.artifact, r.device.artifactMd5],
  ["specified", r.device.artifactDownload, r.device.artifactDownloadMd5],
];

/** Makes a target with an open deployment of one artifact. */
const granted = async (filename = unique("file"), size = 1_000) => {
  const { set, moduleId, artifact } = await build.setWithArtifact(Buffer.from(unique("bytes").padEnd(size, "abc")), filename);
  const { controllerId } = await build.target();
  const actionId = await build.assign(set.id, controllerId);
  return {
    d: device(controllerId),
    controllerId,
    actionId,
    artifact,
    moduleId,
    setId: set.id,
    file: { softwareModuleId: moduleId, fileName: filename },
  };
};

const downloadEntries = async (controllerId: string, actionId: number) =>
  (await view.history(controllerId, actionId)).filter(({ type }) => type === "download");

describe("downloads", () => {
  it.each(addresses)("device 13.81 by the %s address: the bytes and headers of a file are right", async (_name, route) => {
    const { d, artifact, file } = await granted();
    const { status, headers, bytes } = await d.ask(route, file, { headers: { accept: "application/octet-stream" } });
    expect(status).toBe(200);
    expect(bytes.equals(artifact.bytes)).toBe(true);
    expect(headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": String(bytes.length),
      "content-disposition": `attachment;filename=${artifact.providedFilename}`,
      etag: `"${sha1(bytes)}"`,
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff",
    });
    expect(headers["last-modified"]).toBe(new Date(artifact.createdAt).toUTCString());
    expect(headers["content-range"]).toBeUndefined();
  });

  it.each(addresses)("device 13.81 by the %s address: a file that is not assigned is not found", async (_name, route, md5Route) => {
    const { artifact, file } = await granted();
    const { controllerId } = await build.target();
    const foreign = device(controllerId);
    const none = `No assignment found for SoftwareModule with id {${file.softwareModuleId}} to Target with id {${controllerId}}.`;
    for (const one of [route, md5Route]) {
      const refusal = await foreign.refused(one, file, [404, "repo.entityNotFound"]);
      expect(refusal.json.message).toBe(none);
      expect(refusal.text).not.toContain(artifact.hashes.md5);
    }
    await foreign.refused(r.device.listArtifacts, { softwareModuleId: file.softwareModuleId }, [404, "repo.entityNotFound"]);
  });

  it("device 6.1 an unknown module is 404 with a body, an unknown file 404 without one", async () => {
    const { d, file } = await granted();
    await d.refused(r.device.artifact, { ...file, softwareModuleId: 2_000_000_000 }, [404, "repo.entityNotFound"]);
    await d.refused(r.device.artifact, { ...file, fileName: "other.bin" }, [404, ""]);
    await d.refused(r.device.artifact, { ...file, fileName: `${file.fileName}.md5sum` }, [404, ""]);
    await d.refused(r.device.artifact, { ...file, softwareModuleId: "abc" }, [400, "rest.body.notReadable"]);
  });

  it.each(addresses)("device 13.84 by the %s address: the MD5SUM file is right", async (_name, _route, route) => {
    const { d, artifact, file } = await granted();
    const { status, headers, text } = await d.ask(route, file);
    expect([status, text]).toEqual([200, `${md5(artifact.bytes)}  ${file.fileName}`]);
    expect(String(headers["content-type"])).toMatch(/^text\/plain/);
    expect(headers).toMatchObject({
      "content-length": String(text.length),
      "content-disposition": `attachment;filename=${file.fileName}.MD5SUM`,
    });
    expect((await d.ask(route, file, { headers: { accept: "text/plain" } })).status).toBe(200);
  });

  it("device 13.85 the document and the artifact list carry the same four links, and each leads to the same bytes", async () => {
    const { d, controllerId, actionId, artifact, moduleId } = await granted();
    const [listed] = await d.artifacts(moduleId);
    const [shown] = (await d.deployment(actionId)).deployment.chunks[0]?.artifacts ?? [];
    expect(shown).toEqual(listed);
    const links = (listed?._links ?? {}) as Record<"download" | "md5sum", { href: string } | undefined>;
    expect(Object.keys(links).sort()).toEqual(["download", "download-http", "md5sum", "md5sum-http"]);
    const specified = `${baseUrl}/api/v1/DEFAULT/download/controller/${controllerId}/softwaremodules/${moduleId}/filename/${artifact.providedFilename}`;
    expect([links.download?.href, links.md5sum?.href]).toEqual([specified, `${specified}.MD5SUM`]);
    const seen = await Promise.all(
      Object.entries(links).map(async ([name, link]) => [name, await d.follow(link?.href as string)] as const),
    );
    for (const [name, answer] of seen) {
      expect(answer.status).toBe(200);
      if (name.startsWith("download")) expect(answer.bytes.equals(artifact.bytes)).toBe(true);
      else expect(answer.text).toBe(`${md5(artifact.bytes)}  ${artifact.providedFilename}`);
    }
  });

  it("device 13.86, 13.87 a file can be downloaded again after the end of its action, but not during a cancellation", async () => {
    const open = await granted();
    await build.cancel(open.controllerId, open.actionId);
    await open.d.refused(r.device.artifact, open.file, [404, "repo.entityNotFound"]);
    await open.d.cancelFeedback(open.actionId, report("closed", "success"));
    await open.d.refused(r.device.artifact, open.file, [404, "repo.entityNotFound"]);
    const again = await build.assign(open.setId, open.controllerId);
    await open.d.feedback(again, report("closed", "success"));
    const { bytes } = await open.d.ask(r.device.artifact, open.file);
    expect(bytes.equals(open.artifact.bytes)).toBe(true);
    expect(await open.d.artifacts(open.moduleId)).toHaveLength(1);
    const [shown] = (await open.d.installedBase(again)).deployment.chunks[0]?.artifacts ?? [];
    expect((await open.d.follow(shown?._links?.download?.href as string)).bytes.equals(open.artifact.bytes)).toBe(true);
  });

  it("device 6.1 a file cannot be downloaded after its action has failed", async () => {
    const { d, actionId, file } = await granted();
    await d.feedback(actionId, report("closed", "failure"));
    await d.refused(r.device.artifact, file, [404, "repo.entityNotFound"]);
  });

  it.each([
    "a b.bin",
    "übung ß.tar",
    "x+y=z&a@b,c.bin",
    "a(1)[2].bin",
    "100%.bin",
    "a;b.bin",
    "日本.img",
    "x.MD5SUM.tar",
    "#1?.bin",
    "…",
    "a'b.bin",
  ])("device 13.88 the links of the file %s lead to it", async (odd) => {
    const { d, actionId, artifact } = await granted(odd);
    const [shown] = (await d.deployment(actionId)).deployment.chunks[0]?.artifacts ?? ([] as DeviceArtifactView[]);
    expect(shown?.filename).toBe(odd);
    for (const name of ["download", "download-http"] as const) {
      const { status, bytes } = await d.follow(shown?._links?.[name]?.href as string);
      expect([status, bytes.equals(artifact.bytes)]).toEqual([200, true]);
    }
    expect((await d.follow(shown?._links?.md5sum?.href as string)).text).toBe(`${md5(artifact.bytes)}  ${odd}`);
  });

  it("device 13.89 a whole download is recorded once, a range of it never", async () => {
    const { d, controllerId, actionId, file } = await granted();
    for (const range of ["bytes=0-9", "bytes=10-", "bytes=-5"]) await d.ask(r.device.artifact, file, { headers: { range } });
    await pause(1_500);
    expect(await downloadEntries(controllerId, actionId)).toEqual([]);
    await d.ask(r.device.artifact, file);
    const [entry] = await eventually(async () => {
      const found = await downloadEntries(controllerId, actionId);
      return found.length > 0 && found;
    });
    const path = `/DEFAULT/controller/v1/${controllerId}/softwaremodules/${file.softwareModuleId}/artifacts/${file.fileName}`;
    expect(entry?.messages).toEqual([`Update Server: Target downloads ${path}`]);
    await pause(1_000);
    expect(await downloadEntries(controllerId, actionId)).toHaveLength(1);
    expect(await view.state(controllerId, actionId)).toMatchObject({ active: true });
  });

  it("device 6.4 a device that reports the end right after its download has that report as its newest entry", async () => {
    for (const route of [r.device.artifact, r.device.artifactDownload]) {
      const { d, controllerId, actionId, file } = await granted();
      await d.deployment(actionId);
      await d.ask(route, file);
      await d.feedback(actionId, report("closed", "success"));
      const types = (await view.history(controllerId, actionId)).map(({ type }) => type);
      expect(types).toEqual(["finished", "download", "retrieved", "running"]);
    }
  });

  it("device 6.4 the history entry exists as soon as a file or its checksum file is answered", async () => {
    const { d, controllerId, actionId, file } = await granted();
    await d.ask(r.device.artifact, file);
    expect(await downloadEntries(controllerId, actionId)).toHaveLength(1);
    await d.ask(r.device.artifactMd5, file);
    expect(await downloadEntries(controllerId, actionId)).toHaveLength(2);
  });

  it("device 13.90 a download without a credential, or with another device's, is denied", async () => {
    const { controllerId, file } = await granted();
    const other = await build.target();
    for (const auth of [null, credentials.target(other.securityToken as string), "GatewayToken wrong"]) {
      for (const [, route, md5Route] of addresses) {
        const d = device(controllerId, { auth });
        expect((await d.refused(route, file, [401, ""])).headers["www-authenticate"]).toBe("ApiKey");
        await d.refused(md5Route, file, [401, ""]);
      }
    }
  });
});
