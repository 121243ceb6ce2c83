import { hash, randomBytes } from "node:crypto";

/** Schemes of what controller verifies (device_identity.proto); an entry holds the place in this list. */
export const deviceSchemes = ["TargetToken", "GatewayToken", "Certificate", "Anonymous", "ApiKey"] as const;
export type DeviceScheme = (typeof deviceSchemes)[number];

/** What a verified credential stands for. */
export interface VerifiedDevice {
  tenantId: number;
  /** Canonical spelling. */
  tenant: string;
  scheme: DeviceScheme;
}

interface KeptCredential {
  controllerId: string;
  digest: string;
  revision: number;
  generation: number;
  /** Epoch milliseconds; 0 or absent: it has no end of its own. */
  expiresAt?: number;
}

interface TenantEntries {
  tenantId: number;
  tenant: string;
  /**
   * controllerId -> 16 digest characters, 1 for the scheme, 2 for the minute: about 100 bytes a device all in all. Then the moment at which the
   * credential expires, where it does. What lets in many devices is kept under a name that no device has.
   */
  devices: Map<string, string>;
}

const expiryAt = 19;

/** About 400 MB; a fleet of this size has several gateways. */
const mostDevices = 4_000_000;

/**
 * Verified device credentials, compact enough to hold the whole fleet: polling is cyclic, so a least-recently-used
 * cache smaller than the fleet would never hit.
 *
 * Four things make an entry cold: a change of its device or tenant, its own expiry, the hard time-out, and a silent change stream.
 * An answer that was read from a snapshot older than a change already heard of is not kept.
 */
export class DeviceCache {
  readonly #tenants = new Map<string, TenantEntries>();
  readonly #names = new Map<number, string>();
  readonly #heard = new Map<string, number>();
  readonly #salt = randomBytes(16).toString("latin1");
  readonly #ttlMinutes: number;
  readonly #now: () => number;
  readonly #minute: () => number;
  #heardFloor = 0;
  #trusted = false;
  #generation = 0;
  #size = 0;

  constructor(options: { ttlSeconds: number; now: () => number }) {
    this.#ttlMinutes = Math.max(1, Math.ceil(options.ttlSeconds / 60));
    this.#now = options.now;
    this.#minute = () => Math.floor(options.now() / 60_000) & 0xffff;
  }

  /** Digest under a salt of this process: comparing two of them tells an attacker nothing about the secret. */
  digest(authorization: string): string {
    return hash("sha256", this.#salt + authorization, "binary").slice(0, 16);
  }

  /** Tenant spelling is free; `digest` comes from {@link digest}. Undefined: ask the owner. */
  lookup(tenant: string, controllerId: string, digest: string): VerifiedDevice | undefined {
    if (!this.#trusted) return undefined;
    const entries = this.#tenants.get(tenant) ?? this.#tenants.get(tenant.toUpperCase());
    const entry = entries?.devices.get(controllerId);
    if (entry === undefined || !entry.startsWith(digest)) return undefined;
    const age = (this.#minute() - entry.charCodeAt(17) * 256 - entry.charCodeAt(18)) & 0xffff;
    if (age >= this.#ttlMinutes || (entry.length > expiryAt && Number(entry.slice(expiryAt)) <= this.#now())) {
      if (entries?.devices.delete(controllerId)) this.#size -= 1;
      return undefined;
    }
    const { tenantId, tenant: name } = entries as TenantEntries;
    return { tenantId, tenant: name, scheme: deviceSchemes[entry.charCodeAt(16)] as DeviceScheme };
  }

  /** Grows whenever the stream begins or ends: an answer asked for under another one may have missed a change. */
  get generation(): number {
    return this.#generation;
  }

  /** Keeps an answer, unless something newer than its snapshot has been heard for this device or its tenant. */
  keep(device: VerifiedDevice, credential: KeptCredential): void {
    if (!this.#trusted || credential.generation !== this.#generation || this.#isStale(device, credential)) return;
    // one gateway key could walk through any number of names
    if (this.#size >= mostDevices) this.#clear();
    const key = device.tenant.toUpperCase();
    let entries = this.#tenants.get(key);
    if (!entries) {
      entries = { tenantId: device.tenantId, tenant: device.tenant, devices: new Map() };
      this.#tenants.set(key, entries);
      this.#names.set(device.tenantId, key);
    }
    const minute = this.#minute();
    if (!entries.devices.has(credential.controllerId)) this.#size += 1;
    entries.devices.set(
      credential.controllerId,
      credential.digest +
        String.fromCharCode(deviceSchemes.indexOf(device.scheme), minute >> 8, minute & 0xff) +
        (credential.expiresAt || ""),
    );
  }

  #isStale(device: VerifiedDevice, credential: { controllerId: string; revision: number }): boolean {
    const newest = Math.max(
      this.#heardFloor,
      this.#heard.get(`${device.tenantId}`) ?? 0,
      this.#heard.get(`${device.tenantId}/${credential.controllerId}`) ?? 0,
    );
    return newest >= credential.revision;
  }

  /** A change: of one device, or of everything of the tenant when `controllerId` is empty. */
  forget(change: { tenantId: number; controllerId: string; revision: number }): void {
    if (this.#heard.size > 50_000) {
      for (const revision of this.#heard.values()) this.#heardFloor = Math.max(this.#heardFloor, revision);
      this.#heard.clear();
    }
    const heardKey = change.controllerId === "" ? `${change.tenantId}` : `${change.tenantId}/${change.controllerId}`;
    this.#heard.set(heardKey, Math.max(change.revision, this.#heard.get(heardKey) ?? 0));
    const name = this.#names.get(change.tenantId);
    if (name === undefined) return;
    const entries = this.#tenants.get(name);
    if (change.controllerId !== "") {
      if (entries?.devices.delete(change.controllerId)) this.#size -= 1;
      return;
    }
    this.#size -= entries?.devices.size ?? 0;
    this.#tenants.delete(name);
  }

  /** The stream speaks: what is verified from now on may be kept. What was kept before may have missed a change. */
  streamAlive(): void {
    if (this.#trusted) return;
    this.#clear();
    this.#generation += 1;
    this.#trusted = true;
  }

  /** The stream is silent or gone: every entry is cold. */
  streamSilent(): void {
    this.#trusted = false;
    this.#generation += 1;
    this.#clear();
  }

  #clear(): void {
    this.#tenants.clear();
    this.#size = 0;
  }

  get size(): number {
    return this.#size;
  }
}
