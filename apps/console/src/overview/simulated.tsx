import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { change, r, server } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { me } from "../api/session.ts";
import { commands, dialogs, states, overview as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { useRun } from "../ui/confirm.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Refusal } from "../ui/states.tsx";
import style from "./overview.module.css";
import { simulateCommand, tokenChanges } from "./start.state.ts";

/** A gateway token of 128 bits in hexadecimal digits. */
const newKey = () => crypto.getRandomValues(new Uint8Array(16)).reduce((text, byte) => text + byte.toString(16).padStart(2, "0"), "");
const setting = (name: "enabled" | "key") => ({ key: `authentication.gatewaytoken.${name}` });
const readsToken = { permission: ["READ_GATEWAY_SECURITY_TOKEN"] };

/** The command that runs simulated devices, with a token that they can sign in with: it is shown, and made if there is none, when somebody asks. */
export function Simulated() {
  const [command, setCommand] = useState<string>();
  const { data } = useQuery(me);
  const lacking = useLacking(r.configs.get, r.configs.putMany, readsToken);
  const show = async () => {
    const [enabled, key] = await Promise.all([
      change(r.configs.get, { params: setting("enabled") }),
      change(r.configs.get, { params: setting("key") }),
    ]);
    let token = String(key.value);
    const body = tokenChanges({ enabled: enabled.value === true, key: token }, () => {
      token = newKey();
      return token;
    });
    if (Object.keys(body).length > 0) {
      await change(r.configs.putMany, { body });
      await invalidate("configs");
    }
    setCommand(simulateCommand({ server: server.href, tenant: data?.tenant ?? "", token }));
  };
  const runs = useRun(show, () => undefined);
  if (command !== undefined) {
    return (
      <>
        <p className="muted">{t.commandText}</p>
        <div className={style["command"]}>
          <code>{command}</code>
          <CopyButton text={command} label={commands.copy(t.command)} />
        </div>
      </>
    );
  }
  return (
    <>
      <p className="muted">{t.simulatedText}</p>
      <Button look="primary" small why={runs.busy ? dialogs.asked : lacking && states.missing(lacking)} onClick={runs.start}>
        {t.showCommand}
      </Button>
      <Refusal error={runs.error} />
    </>
  );
}
