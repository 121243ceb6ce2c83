import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Admin,
  Authorities,
  type Authority,
  createAdmin,
  createDevice,
  downloadZchunk,
  eventually,
  fingerprintOf,
  makeZchunk,
  startSwupdate,
  uniqueName,
} from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fleet, sideBySide, soon, startFleet } from "./support/fleet.ts";
import { type DdiDevice, startDdiDevice } from "./support/hawkbit-ddi.ts";
import { deviceAt, fileOf, given } from "./support/known-device.ts";
import { newestEntry, outcomeOf } from "./support/outcome.ts";
import { CERTIFICATE_HEADERS, type ReverseProxy, type Rule, startProxy } from "./support/proxy.ts";
import { type RaucDevice, startRaucDevice } from "./support/rauc-hawkbit.ts";
import { createSigner, swuImage } from "./support/swu.ts";

// Both patterns of artifact links work behind nginx, whose rules were written for hawkBit.

const CLASSIC = "CLASSIC";

let fleet: Fleet;
/** The administrator of a tenant whose links are classic, where the installation's are hawkBit's. */
let classicAdmin: Admin;
let proxy: ReverseProxy;
let dir: string;
let authorities: Authorities;
let servers: Authority;
let makers: Authority;
const running: { stop(): unknown }[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "harrier-proxy-"));
  authorities = new Authorities();
  [servers, makers] = [authorities.root("servers"), authorities.root("makers of devices")];
  const gateway = { HARRIER_TRUSTED_PROXIES: "127.0.0.1", HARRIER_CERTIFICATE_HEADERS: CERTIFICATE_HEADERS };
  fleet = await startFleet({ gateway, controller: { HARRIER_ARTIFACT_LINKS: "hawkbit" } });
  const issuer = fingerprintOf(makers.cert);
  const server = servers.issue("127.0.0.1", "server");
  proxy = await startProxy({ upstream: fleet.stack.baseUrl, server, devices: makers, issuer });
  await fleet.admin.configure("authentication.header.enabled", true);
  await fleet.admin.configure("authentication.header.authority", issuer);
  await fleet.admin.configure("anonymous.download.enabled", true);
  classicAdmin = await createClassicTenant();
});
afterAll(async () => {
  for (const one of running) await one.stop();
  await proxy?.stop();
  await fleet?.stack.stop();
  authorities?.close();
  rmSync(dir, { recursive: true, force: true });
});

async function createClassicTenant(): Promise<Admin> {
  const { baseUrl } = fleet.stack;
  const body = [{ name: CLASSIC, administrator: { name: "boss" } }];
  const [made] = await fleet.admin.post<{ administrator: { password: string } }[]>("system/tenants", body);
  const admin = createAdmin({ baseUrl, user: `${CLASSIC}\\boss`, password: made?.administrator.password ?? "" });
  await eventually(() => admin.configure("artifact.links", "classic"), 30_000);
  await admin.configure("authentication.targettoken.enabled", true);
  return admin;
}

const ruleOf = ({ headers }: { headers: Headers }) => headers.get("x-rule") as Rule | null;

test("links in hawkBit's pattern come back through the proxy, each by its own rule", sideBySide, async () => {
  const update = await given(fleet.admin);
  const device = deviceAt(proxy.hawkbit, update);
  const file = await fileOf(device);
  const own = `${proxy.hawkbit}/DEFAULT/controller/v1/${update.controllerId}`;
  const shape = new RegExp(`^${own}/softwaremodules/\\d+/artifacts/image%20%C3%A4\\.bin(\\.MD5SUM)?$`);
  expect(Object.keys(file._links).sort()).toEqual(["download", "download-http", "md5sum", "md5sum-http"]);
  for (const { href } of Object.values(file._links)) {
    expect(href).toMatch(shape);
    const answer = await device.call(href);
    expect([answer.status, ruleOf(answer)]).toEqual([200, "download"]);
  }
  const poll = await device.call<{ _links: Record<string, { href: string }> }>("");
  expect([poll.status, ruleOf(poll)]).toEqual([200, "device"]);
  for (const { href } of Object.values(poll.body._links)) expect(href.startsWith(`${own}/`)).toBe(true);
  expect((await device.call("", { headers: { "if-none-match": poll.headers.get("etag") ?? "" } })).status).toBe(304);
  expect(ruleOf(await device.report(update.actionId, "closed", "success"))).toBe("device");
});

test("parts of a file come through the proxy unchanged", sideBySide, async () => {
  const update = await given(fleet.admin);
  const device = deviceAt(proxy.hawkbit, update);
  const file = await fileOf(device);
  const whole = await device.download(file);
  expect([whole.status, whole.bytes.equals(update.content)]).toEqual([200, true]);
  expect(whole.headers.get("accept-ranges")).toBe("bytes");
  const part = await device.download(file, "bytes=1000-1999");
  expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 1000-1999/${file.size}`]);
  expect(part.bytes.equals(update.content.subarray(1000, 2000))).toBe(true);
  const rest = await device.download(file, "bytes=499990-");
  expect([rest.status, rest.bytes.equals(update.content.subarray(499_990))]).toEqual([206, true]);
  const behind = await device.download(file, `bytes=${file.size}-`);
  expect([behind.status, behind.headers.get("content-range")]).toEqual([416, `bytes */${file.size}`]);
  const etag = whole.headers.get("etag") ?? "";
  expect(etag).toBe(`"${file.hashes.sha1}"`);
  const href = file._links["download"]?.href ?? "";
  const resumed = { range: "bytes=499990-", "if-range": etag };
  expect((await device.call(href, { headers: resumed })).status).toBe(206);
  expect((await device.call(href, { headers: { ...resumed, "if-range": '"of another file"' } })).status).toBe(200);
});

test("the management interface under hawkBit's path is proxied with its links, and no other path is", sideBySide, async () => {
  const { adminUser: user, adminPassword: password } = fleet.stack;
  const behind = createAdmin({ baseUrl: proxy.hawkbit, user, password, prefix: "/rest/v1" });
  const { controllerId } = await behind.createTarget();
  const target = await behind.call<{ _links: { self: { href: string } } }>(`targets/${controllerId}`);
  expect([target.status, ruleOf(target)]).toEqual([200, "management"]);
  expect(target.body._links.self.href).toBe(`${proxy.hawkbit}/rest/v1/targets/${controllerId}`);
  for (const path of ["/api/mgmt/v1/targets", "/livez", "/api/docs/", "/oauth2/token"]) {
    const answer = await fetch(proxy.hawkbit + path);
    expect([path, answer.status, ruleOf(answer)]).toEqual([path, 404, null]);
  }
});

test("classic links match none of hawkBit's rules, and lead to the file where there is a rule for them", sideBySide, async () => {
  const update = await given(classicAdmin);
  const astray = await fileOf(deviceAt(proxy.hawkbit, update, CLASSIC), "classic");
  const device = deviceAt(proxy.both, update, CLASSIC);
  const file = await fileOf(device, "classic");
  const path = `/api/v1/${CLASSIC}/download/controller/${update.controllerId}/softwaremodules/`;
  for (const rel of Object.keys(file._links)) {
    const [missed, led] = [astray._links[rel]?.href ?? "", file._links[rel]?.href ?? ""];
    expect(missed.startsWith(proxy.hawkbit + path)).toBe(true);
    expect((await device.call(missed)).status).toBe(404);
    expect(led.startsWith(proxy.both + path)).toBe(true);
    expect(ruleOf(await device.call(led))).toBe("classic-download");
  }
  expect((await device.download(file)).bytes.equals(update.content)).toBe(true);
  const part = await device.download(file, "bytes=10-19");
  expect([part.status, part.bytes.equals(update.content.subarray(10, 20))]).toEqual([206, true]);
});

test("rauc-hawkbit updates through the proxy, by links of either pattern", sideBySide, async () => {
  const tries = [
    { admin: fleet.admin, tenant: "DEFAULT", baseUrl: proxy.hawkbit, rule: "/artifacts/" },
    { admin: classicAdmin, tenant: CLASSIC, baseUrl: proxy.both, rule: "/api/v1/" },
  ];
  for (const { admin, tenant, baseUrl, rule } of tries) {
    const { controllerId, token, actionId, content } = await given(admin);
    const device: RaucDevice = await startRaucDevice({ baseUrl, tenant, controllerId, token });
    running.push(device);
    const links = await eventually(async () => (await device.poll())._links);
    const { deployment } = await device.deployment(links?.deploymentBase?.href ?? "");
    const href = deployment.chunks[0]?.artifacts[0]?._links["download"]?.href ?? "";
    expect(href).toContain(rule);
    const path = join(dir, controllerId);
    expect(await device.download(href, path)).toBe(createHash("md5").update(content).digest("hex"));
    await device.report({ action: String(actionId), execution: "closed", finished: "success", details: ["installed"] });
    expect(await newestEntry(admin, controllerId, actionId)).toMatchObject({ type: "finished", messages: ["installed"] });
  }
});

/** Starts the npm client at one of the proxy's addresses; also returns the folder for its files. */
async function npmDevice(baseUrl: string, controllerId: string, credential: Parameters<typeof startDdiDevice>[0]["credential"]) {
  const own = join(dir, controllerId);
  mkdirSync(own, { recursive: true });
  const device: DdiDevice = await startDdiDevice({ baseUrl, controllerId, credential, dir: own, install: () => "success" });
  running.push(device);
  return { device, own };
}

const introduced = (controllerId: string) =>
  soon(async () => expect(await fleet.admin.get(`targets/${controllerId}/attributes`)).toEqual({ device: controllerId }));

test("the npm client resumes a half downloaded file through the proxy", sideBySide, async () => {
  const controllerId = uniqueName("npm");
  const credential = { gatewayToken: fleet.gatewayToken };
  const { device: first, own } = await npmDevice(proxy.hawkbit, controllerId, credential);
  await introduced(controllerId);
  first.stop();
  const content = randomBytes(1_000_000);
  writeFileSync(join(own, "image.bin"), content.subarray(0, 300_000));
  const { set } = await fleet.admin.createSetWithFile(content, "image.bin");
  const actionId = await fleet.admin.assign(controllerId, set.id);
  // When it is switched on again it polls at once.
  const { device } = await npmDevice(proxy.hawkbit, controllerId, credential);
  await soon(async () => expect((await outcomeOf(fleet.admin, controllerId, actionId)).action).toBe("update finished"));
  expect(readFileSync(join(own, "image.bin")).equals(content)).toBe(true);
  expect(device.errors).toEqual([]);
  const downloads = proxy.requestsTo(proxy.hawkbit).filter(({ uri }) => uri.includes(`/${controllerId}/softwaremodules/`));
  expect(downloads).toMatchObject([{ range: "bytes=300000-", status: 206 }]);
});

test("the npm client signs in by its certificate, which the proxy forwards", sideBySide, async () => {
  const controllerId = uniqueName("certified");
  const certificate = { ...makers.issue(controllerId), ca: servers.cert };
  const { device } = await npmDevice(proxy.tls, controllerId, { certificate });
  await introduced(controllerId);
  expect(device.errors).toEqual([]);
  device.stop();
  expect(await fleet.admin.get(`targets/${controllerId}`)).toMatchObject({ name: controllerId, updateStatus: "registered" });
  const { set } = await fleet.admin.createSetWithFile(randomBytes(100_000), "image.bin");
  const actionId = await fleet.admin.assign(controllerId, set.id);
  const { device: again } = await npmDevice(proxy.tls, controllerId, { certificate });
  await soon(async () => expect((await outcomeOf(fleet.admin, controllerId, actionId)).action).toBe("update finished"));
  expect(again.errors).toEqual([]);
  // Its links were https to this port, though the gateway is called by http; and no token was sent.
  const requested = proxy.requestsTo(proxy.tls).filter(({ uri }) => uri.startsWith(`/DEFAULT/controller/v1/${controllerId}/`));
  expect(requested.map(({ uri, status }) => `${status} ${uri.split("/")[5]}`)).toContain("200 softwaremodules");
  expect(requested.some(({ signedIn }) => signedIn)).toBe(false);
});

test("a certificate authenticates its own device only, and certificate headers of a client have no effect", sideBySide, async () => {
  const [controllerId, other] = [uniqueName("certified"), uniqueName("certified")];
  const certificate = { ...makers.issue(controllerId), ca: servers.cert };
  const { device: disguised } = await npmDevice(proxy.tls, other, { certificate });
  await soon(() => expect(disguised.errors).toEqual(["Error: invalid statusCode (401) value"]));
  const strange = authorities.root("a stranger").issue(controllerId);
  const { device: foreign } = await npmDevice(proxy.tls, controllerId, { certificate: { ...strange, ca: servers.cert } });
  await soon(() => expect(foreign.errors).toEqual(["Error: invalid statusCode (400) value"]));
  const headers = { "x-ssl-client-cn": controllerId, "x-ssl-issuer-hash-1": fingerprintOf(makers.cert) };
  const told = await createDevice({ baseUrl: proxy.hawkbit, controllerId }).call("", { headers });
  expect(told.status).toBe(401);
  for (const id of [controllerId, other]) expect((await fleet.admin.call(`targets/${id}`)).status).toBe(404);
});

/** Makes the content that a device has and the new one: single bytes differ, so that about every second chunk differs. */
function twoVersions(): [old: Buffer, content: Buffer] {
  // The content is the same in every run.
  const old = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(24_000_000));
  const content = Buffer.from(old);
  for (let at = 0; at < content.length; at += 64_000) content.writeUInt8(content.readUInt8(at) ^ 1, at);
  return [old, content];
}

/** Returns how many ranges each request had for a file that is downloaded without a credential. */
function rangesOf(file: string): number[] {
  const requested = proxy.requestsTo(proxy.hawkbit).filter(({ uri }) => uri === file);
  expect(requested.map(({ status, signedIn }) => ({ status, signedIn }))).toEqual(requested.map(() => ({ status: 206, signedIn: false })));
  return requested.map(({ range }) => range.split(",").length);
}

const pathOf = (controllerId: string, moduleId: number) =>
  `/DEFAULT/controller/v1/${controllerId}/softwaremodules/${moduleId}/artifacts/image.zck`;

test("zckdl downloads all parts that a device lacks by one request with more than 150 ranges", sideBySide, async () => {
  const { admin } = fleet;
  const [old, content] = twoVersions();
  const [older, zchunk] = await Promise.all([makeZchunk(old), makeZchunk(content)]);
  const { controllerId } = await admin.createTarget();
  const { set, module } = await admin.createSetWithFile(zchunk.file, "image.zck");
  await admin.assign(controllerId, set.id);
  const file = pathOf(controllerId, module.id);
  expect((await downloadZchunk(proxy.hawkbit + file, older)).equals(zchunk.file)).toBe(true);
  expect(Math.max(...rangesOf(file))).toBeGreaterThanOrEqual(150);
});

test("SWUpdate builds an image from what it has and from 150 parts that it requests at once", sideBySide, async () => {
  const { admin } = fleet;
  const { controllerId, securityToken } = await admin.createTarget();
  const [source, path] = [join(dir, `${controllerId}.old`), join(dir, `${controllerId}.new`)];
  const [old, content] = twoVersions();
  writeFileSync(source, old);
  const zchunk = await makeZchunk(content);
  const module = await admin.createModule();
  await admin.upload(module.id, "image.zck", zchunk.file);
  const file = pathOf(controllerId, module.id);
  const signer = await createSigner(mkdtempSync(join(dir, "signer-")));
  const delta = { source, url: proxy.hawkbit + file };
  await admin.upload(module.id, "update.swu", swuImage(signer, { path, content: zchunk.header, revision: "1", delta }));
  const actionId = await admin.assign(controllerId, (await admin.createSet([module.id])).id);
  const { certificate } = signer;
  const options = { baseUrl: proxy.hawkbit, controllerId, targetToken: securityToken, certificate, hardware: "harrier:1" };
  const installed = async () => expect((await outcomeOf(admin, controllerId, actionId)).messages).toContain("All Chunks Installed.");
  // SWUpdate 2022.12 sometimes dies while it searches what the device has, before it requests a part: then it is started again.
  for (let start = 1; ; start++) {
    const swupdate = await startSwupdate(options);
    try {
      await eventually(installed, 60_000, 250);
      break;
    } catch (error) {
      if (start < 3 && rangesOf(file).length === 0) continue;
      throw new Error(`${(error as Error).message}\nSWUpdate's last words:\n${swupdate.output()}`, { cause: error });
    } finally {
      await swupdate.stop();
    }
  }
  expect(readFileSync(path).equals(content)).toBe(true);
  expect(Math.max(...rangesOf(file))).toBe(150);
});
