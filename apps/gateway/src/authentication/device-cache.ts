import { hash, randomBytes } from "node:crypto";

/** The schemes of credentials that controller verifies (device_identity.proto); an entry holds the place in this list. */
export const deviceSchemes = ["TargetToken", "GatewayToken", "Certificate", "Anonymous", "ApiKey"] as const;
export type DeviceScheme = (typeof deviceSchemes)[number];

/** The device that a credential authenticates, once controller has verified it. */
export interface VerifiedDevice {
  tenantId: number;
  /** The canonical spelling of the tenant. */
  tenant: string;
  scheme: DeviceScheme;
}

interface KeptCredential {
  controllerId: string;
  digest: string;
  revision: number;
  generation: number;
  /** The time in epoch milliseconds; 0 or absent if the credential does not expire. */
  expiresAt?: number;
}

interface TenantEntries {
  tenantId: number;
  tenant: string;
  /**
   * Maps controllerId to 16 digest characters, 1 for the scheme, 2 for the minute: about 100 bytes a device all in all. Then follows the moment at
   * which the credential expires, if it does. A credential for many devices is stored under a name that no device has.
   */
  devices: Map<string, string>;
}

const expiryAt = 19;

/** It takes about 400 MB; a fleet of this size has several gateways. */
const maxDevices = 4_000_000;

/**
 * Caches device credentials that controller has verified, compactly enough to hold the whole fleet: polling is cyclic, so a least-recently-used cache
 * smaller than the fleet would never hit. These make an entry cold: a change of its device or tenant, its own expiry, the hard time-out
 * `HARRIER_CREDENTIAL_TTL`, a change stream that is silent for 3 s (`silentAfterMs` of packages/rpc), and the rest of a gateway without requests, which
 * follows no changes. An answer that was read from a snapshot older than a change already received is not cached.
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

  /** Makes a digest with a salt of this process, so that comparing two of them reveals nothing about the secret. */
  digest(authorization: string): string {
    return hash("sha256", this.#salt + authorization, "binary").slice(0, 16);
  }

  /** Finds a device. The tenant may have any spelling; `digest` comes from {@link digest}. Undefined means that the owner must be asked. */
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

  /** It grows whenever the stream begins or ends: an answer requested under another number may have missed a change. */
  get generation(): number {
    return this.#generation;
  }

  /** Caches an answer, unless a change newer than its snapshot was received for this device or its tenant. */
  keep(device: VerifiedDevice, credential: KeptCredential): void {
    if (!this.#trusted || credential.generation !== this.#generation || this.#isStale(device, credential)) return;
    // Otherwise one gateway token could fill the memory with any number of names.
    if (this.#size >= maxDevices) this.#clear();
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

  /** Evicts after a change: one device, or everything of the tenant when `controllerId` is empty. */
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

  /** Notes that the stream is alive: credentials verified from now on may be cached. Older entries may have missed a change. */
  streamAlive(): void {
    if (this.#trusted) return;
    this.#clear();
    this.#generation += 1;
    this.#trusted = true;
  }

  /** Notes that the stream is silent or gone: every entry is cold. */
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
