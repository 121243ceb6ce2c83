import type { UserView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { unlessExists } from "../api/exists.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { me } from "../api/session.ts";
import { common, people as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Choice, Field, Segments } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { toastFailure } from "../ui/toast.tsx";
import { NewPassword, passwordLeast } from "./new-password.tsx";
import { grantsOfRole, permissionsOf, presets } from "./presets.state.ts";

/** What a new user can be allowed at once: nothing, a preset, or what a role allows. */
function useOffers() {
  const { data: who } = useQuery(me);
  const { data: all } = useQuery({ ...ask(r.permissions.list), staleTime: 600_000 });
  // What somebody holds for some types of devices cannot be given for all.
  const free = (who?.permissions ?? []).filter((name) => who?.targetTypeScopes[name] === undefined);
  const readable = useLacking(r.roles.list) === undefined;
  const roles = useQuery({ ...ask(r.roles.list, { query: { limit: 100, sort: "name:ASC", representation: "full" } }), enabled: readable });
  const offered = all === undefined ? [] : presets;
  return {
    options: [
      { value: "", label: t.noneYet },
      ...offered.map((preset) => ({ value: preset, label: t.presets[preset] })),
      ...(roles.data?.content ?? []).map(({ id, name }) => ({ value: String(id), label: t.asRole(name) })),
    ],
    granted: (value: string): ReturnType<typeof grantsOfRole> => {
      const preset = offered.find((one) => one === value);
      if (preset !== undefined) return { names: permissionsOf(preset, all ?? [], free) };
      return grantsOfRole(roles.data?.content.find(({ id }) => String(id) === value) ?? {});
    },
  };
}

/** Makes a user; what the user may do is chosen at once, and shown afterwards. */
export function NewUser({ close, made }: { close: () => void; made: (user: UserView) => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState("password");
  const [password, setPassword] = useState("");
  const [may, setMay] = useState("");
  const { options, granted } = useOffers();
  const short = kind === "password" && password.length < passwordLeast;
  const run = async () => {
    const { names, after } = granted(may);
    const body = [{ name: name.trim(), permissions: [...names], ...(kind === "password" && { password }) }];
    const [user] = await unlessExists(change(r.users.create, { body }), t.userExists(name.trim()));
    if (user && after) await change(r.users.setPermissions, { params: { userId: user.id }, body: after }).catch(toastFailure);
    await invalidate("users");
    if (user) made(user);
  };
  const why = name.trim() === "" ? common.nameFirst : short ? t.passwordShort : undefined;
  return (
    <FormDialog open close={close} title={t.newUser} text={t.usersText} button={common.create} why={why} run={run}>
      <Field label={common.name} value={name} onChange={setName} maxLength={limits.name} autoCapitalize="none" autoFocus />
      <Segments
        label={t.signsIn}
        value={kind}
        onChange={setKind}
        options={[
          { value: "password", label: t.withPassword },
          { value: "external", label: t.external },
        ]}
      />
      {kind === "password" && <NewPassword label={t.password} value={password} onChange={setPassword} />}
      <Choice label={t.may} value={may} onChange={setMay} options={options} hint={t.mayHint} />
    </FormDialog>
  );
}
