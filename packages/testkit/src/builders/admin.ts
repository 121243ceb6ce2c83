import { randomBytes } from "node:crypto";
import { eventually } from "../eventually.ts";
import { type Answer, basic, type Call, send, succeeded } from "./http.ts";

export interface AdminOptions {
  baseUrl: string;
  user?: string;
  password: string;
  /** The default is `/api/mgmt/v1`; the other one is `/rest/v1`. */
  prefix?: string;
}

/** The members of answers that tests need most; the contract suite has all. */
export interface Created {
  id: number;
  name: string;
}
export interface CreatedTarget {
  controllerId: string;
  securityToken: string;
}
export interface RolloutView extends Created {
  status: string;
  totalTargets: number;
  totalTargetsPerStatus?: Record<string, number>;
}

let counter = 0;

/** Makes a name that no other test has: `prefix-<number>-<random>`. */
export function uniqueName(prefix: string): string {
  counter += 1;
  return `${prefix}-${counter}-${randomBytes(3).toString("hex")}`;
}

export type Admin = ReturnType<typeof createAdmin>;

/** Makes an administrator, with any request of the management interface, and builders for the things that most tests begin with. */
export function createAdmin({ baseUrl, user = "admin", password, prefix = "/api/mgmt/v1" }: AdminOptions) {
  const authorization = basic(user, password);
  const call = <Body = unknown>(path: string, options: Call = {}): Promise<Answer<Body>> =>
    send<Body>(`${baseUrl}${prefix}/${path}`, { ...options, headers: { authorization, accept: "application/json", ...options.headers } });
  const get = async <Body>(path: string) => succeeded(await call<Body>(path), `GET ${path}`);
  const post = async <Body>(path: string, body?: unknown) => succeeded(await call<Body>(path, { method: "POST", body }), `POST ${path}`);
  const first = async <Body>(path: string, body: object): Promise<Body> => {
    const [one] = await post<Body[]>(path, [body]);
    if (one === undefined) throw new Error(`POST ${path}: an empty list came back`);
    return one;
  };
  return {
    call,
    get,
    post,
    ...catalogueBuilders({ call, first }),
    ...targetBuilders({ call, post, first }),
    ...rolloutBuilders({ get, post }),
    /** Sends PUT system/configs/{key}. */
    async configure(key: string, value: unknown): Promise<void> {
      succeeded(await call(`system/configs/${key}`, { method: "PUT", body: { value } }), `system/configs/${key}`);
    },
  };
}

interface Requests {
  call: <Body = unknown>(path: string, options?: Call) => Promise<Answer<Body>>;
  get: <Body>(path: string) => Promise<Body>;
  post: <Body>(path: string, body?: unknown) => Promise<Body>;
  first: <Body>(path: string, body: object) => Promise<Body>;
}

function catalogueBuilders({ call, first }: Pick<Requests, "call" | "first">) {
  const createModule = (fields: object = {}) =>
    first<Created>("softwaremodules", { name: uniqueName("module"), version: "1.0", type: "os", ...fields });
  async function upload(
    moduleId: number,
    filename: string,
    content: string | Uint8Array,
  ): Promise<{ id: number; size: number; hashes: Record<string, string> }> {
    const body = new FormData();
    body.set("file", new Blob([content as string | Uint8Array<ArrayBuffer>]), filename);
    const path = `softwaremodules/${moduleId}/artifacts`;
    return succeeded(
      await call<{ id: number; size: number; hashes: Record<string, string> }>(path, { method: "POST", body }),
      `POST ${path}`,
    );
  }
  const createSet = (moduleIds: readonly number[], fields: object = {}) =>
    first<Created>("distributionsets", {
      name: uniqueName("set"),
      version: "1.0",
      type: "os",
      modules: moduleIds.map((id) => ({ id })),
      ...fields,
    });
  return {
    createModule,
    upload,
    createSet,
    /** Creates a module with one file, and a set of it that can be assigned. */
    async createSetWithFile(content: string | Uint8Array = "hello, device\n", filename = "image.bin") {
      const module = await createModule();
      const artifact = await upload(module.id, filename, content);
      const set = await createSet([module.id]);
      return { module, artifact, set };
    },
  };
}

function targetBuilders({ call, post, first }: Pick<Requests, "call" | "post" | "first">) {
  return {
    createTarget(fields: object = {}): Promise<CreatedTarget> {
      const controllerId = uniqueName("device");
      return first<CreatedTarget>("targets", { controllerId, name: controllerId, ...fields });
    },
    /** Creates `n` targets named `<prefix>-0000` and so on, in requests of 500. */
    async createTargets(n: number, prefix = uniqueName("fleet")): Promise<CreatedTarget[]> {
      const bodies = Array.from({ length: n }, (_, index) => {
        const controllerId = `${prefix}-${String(index).padStart(4, "0")}`;
        return { controllerId, name: controllerId };
      });
      const made: CreatedTarget[] = [];
      for (let at = 0; at < n; at += 500) made.push(...(await post<CreatedTarget[]>("targets", bodies.slice(at, at + 500))));
      return made;
    },
    /** Assigns a set to one target and returns the action's id. */
    async assign(controllerId: string, setId: number, fields: object = {}): Promise<number> {
      const { assignedActions } = await post<{ assignedActions: { id: number }[] }>(`targets/${controllerId}/assignedDS`, [
        { id: setId, ...fields },
      ]);
      const action = assignedActions.at(-1);
      if (action === undefined) throw new Error(`set ${setId} was assigned to ${controllerId} already`);
      return action.id;
    },
    cancel: (controllerId: string, actionId: number, force = false) =>
      call(`targets/${controllerId}/actions/${actionId}${force ? "?force=true" : ""}`, { method: "DELETE" }),
  };
}

function rolloutBuilders({ get, post }: Pick<Requests, "get" | "post">) {
  const getRollout = (id: number) => get<RolloutView>(`rollouts/${id}`);
  return {
    createRollout: (setId: number, fields: object = {}) =>
      post<RolloutView>("rollouts", {
        name: uniqueName("rollout"),
        distributionSetId: setId,
        targetFilterQuery: "controllerId==*",
        amountGroups: 1,
        ...fields,
      }),
    getRollout,
    startRollout: (id: number) => post<undefined>(`rollouts/${id}/start`),
    /** Waits until the rollout has a status. */
    rolloutIs: (id: number, status: string, limitMs = 30_000) =>
      eventually(async () => {
        const rollout = await getRollout(id);
        if (rollout.status !== status) throw new Error(`rollout ${id} is ${rollout.status}, not ${status}`);
        return rollout;
      }, limitMs),
  };
}
