import { commandLine } from "../ui/api.state.ts";

interface Device {
  /** The address of the server, as the browser knows it. */
  readonly server: string;
  readonly tenant: string;
  readonly controllerId: string;
}

/** Where a device polls. */
export const pollAddress = ({ server, tenant, controllerId }: Device): string =>
  `${server.replace(/\/$/, "")}/${encodeURIComponent(tenant)}/controller/v1/${encodeURIComponent(controllerId)}`;

/** The command that polls once as the device does. */
export const pollCommand = (device: Device, token: string): string =>
  commandLine(["curl", ["-sS -H", `Authorization: TargetToken ${token}`], pollAddress(device)]);
