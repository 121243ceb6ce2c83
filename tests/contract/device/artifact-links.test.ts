import { type ArtifactView, type ConfigView, routeTable as r } from "@harrier/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { call, refused } from "../support/call.ts";
import { device } from "../support/device.ts";
import { baseUrl, credentials } from "../support/http.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const of = (key: string) => ({ params: { key } });
const put = (key: string, value: string) => call(r.configs.put, "spec", { ...of(key), body: { value } });

/** Makes a device with a file to download, and reads its links from the deployment and from the list of artifacts. */
async function granted() {
  const bytes = Buffer.from(unique("bytes"));
  const file = `${unique("file")} ä.bin`;
  const { set, moduleId } = await build.setWithArtifact(bytes, file);
  const { controllerId } = await build.target();
  const actionId = await build.assign(set.id, controllerId);
  const d = device(controllerId);
  const links = async () => {
    const [shown, listed] = [(await d.deployment(actionId)).deployment.chunks[0]?.artifacts[0], (await d.artifacts(moduleId))[0]];
    expect(listed?._links).toEqual(shown?._links);
    return Object.fromEntries(Object.entries(shown?._links ?? {}).map(([rel, link]) => [rel, link?.href ?? ""]));
  };
  const shape = `/${credentials.tenant}/controller/v1/${controllerId}/softwaremodules/${moduleId}/artifacts/${encodeURIComponent(file)}`;
  return { d, bytes, links, shape };
}

/** Waits until every process that answers devices knows the setting. */
const settled = (links: () => Promise<Record<string, string>>, hold: (href: string) => boolean) =>
  eventually(async () => {
    const seen = await Promise.all(Array.from({ length: 8 }, async () => (await links())["download"] ?? ""));
    return seen.every(hold);
  }, 10_000);

describe("the pattern of artifact links", () => {
  inOwnTenant();
  afterEach(async () => {
    await call(r.configs.delete, "spec", of("artifact.links"));
    await call(r.configs.delete, "spec", of("artifact.links.host"));
    await settled((await granted()).links, (href) => href.startsWith(`${baseUrl}/api/v1/`));
  });

  it("device 2.3 all four links can have hawkBit's pattern, and they lead to the file", async () => {
    const { d, bytes, links, shape } = await granted();
    await put("artifact.links", "hawkbit");
    await settled(links, (href) => href === `${baseUrl}${shape}`);
    const shown = await links();
    expect(shown).toEqual({
      download: `${baseUrl}${shape}`,
      md5sum: `${baseUrl}${shape}.MD5SUM`,
      "download-http": `${baseUrl}${shape}`,
      "md5sum-http": `${baseUrl}${shape}.MD5SUM`,
    });
    expect((await d.follow(shown["download"] as string)).bytes.equals(bytes)).toBe(true);
    expect((await d.follow(shown["md5sum-http"] as string)).status).toBe(200);
  });

  it("device 2.3 one link can have hawkBit's pattern while another has a pattern of its own", async () => {
    const { links, shape } = await granted();
    await put("artifact.links", `download=${baseUrl}/files/{tenant}/{sha1}/{filename} download-http=hawkbit`);
    await settled(links, (href) => href.startsWith(`${baseUrl}/files/${credentials.tenant}/`));
    const shown = await links();
    expect(shown["download-http"]).toBe(`${baseUrl}${shape}`);
    expect(shown["download"]).toMatch(new RegExp(`/files/${credentials.tenant}/[0-9a-f]{40}/file-\\w+%20%C3%A4\\.bin$`));
    expect(shown["md5sum"]).toBe(`${shown["download"]}.MD5SUM`);
  });

  it("management 4.3 with useartifacturlhandler administrators see links that need no device in place of the download", async () => {
    const { moduleId, artifact } = await build.setWithArtifact(undefined, `${unique("file")} ä.bin`);
    const one = { softwareModuleId: moduleId, artifactId: artifact.id };
    const shown = async (handler: boolean) => {
      const query = { useartifacturlhandler: handler };
      const { json } = await call<ArtifactView>(r.artifacts.get, "spec", { params: one, query });
      const full = { ...query, representation: "full" };
      const listed = await call<ArtifactView[]>(r.artifacts.list, "spec", { params: { softwareModuleId: moduleId }, query: full });
      expect(listed.json[0]?._links).toEqual(json._links);
      const { self, ...others } = json._links;
      expect(self?.href).toMatch(/\/artifacts\/\d+$/);
      return Object.fromEntries(Object.entries(others).map(([rel, link]) => [rel, link?.href]));
    };
    const usual = await shown(false);
    expect(Object.keys(usual)).toEqual(["download"]);
    // The links of the default pattern name a device.
    expect(await shown(true)).toEqual(usual);
    await put("artifact.links", "download={download_url}/files/{tenant}/{sha1}/{filename} download-http=hawkbit");
    const file = `${baseUrl}/files/${credentials.tenant}/${artifact.hashes.sha1}/${encodeURIComponent(artifact.providedFilename)}`;
    expect(await shown(true)).toEqual({ download: file, md5sum: `${file}.MD5SUM` });
    expect(await shown(false)).toEqual(usual);
  });

  it("device 2.3 a pattern that cannot be read is denied and changes nothing", async () => {
    for (const value of ["seeds", "download=ftp://h/{filename}", "download=https://h/{file}", "download=https://h/latest"]) {
      await refused(r.configs.put, "spec", { ...of("artifact.links"), body: { value } }, [400, "configValueInvalid"]);
    }
    expect((await call<ConfigView>(r.configs.get, "spec", of("artifact.links"))).json).toMatchObject({ value: "", global: true });
  });
});
