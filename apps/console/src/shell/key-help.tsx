import { jumping, shell as t } from "../text/en.ts";
import { InfoDialog } from "../ui/info-dialog.tsx";
import style from "./palette.module.css";

/** The keys of all pages, as the help shows them; those of grids are in ui/grid.tsx. */
const keyTable = [
  { keys: ["Ctrl", "K"], does: jumping.keyNames.palette },
  { keys: ["/"], does: jumping.keyNames.filter },
  { keys: ["g", "o"], does: jumping.keyNames.overview },
  { keys: ["g", "d"], does: jumping.keyNames.devices },
  { keys: ["g", "r"], does: jumping.keyNames.rollouts },
  { keys: ["g", "s"], does: jumping.keyNames.software },
  { keys: ["j", "k"], does: jumping.keyNames.rows },
  { keys: ["Enter"], does: jumping.keyNames.open },
  { keys: ["x"], does: jumping.keyNames.choose },
  { keys: ["?"], does: jumping.keyNames.help },
  { keys: ["Esc"], does: jumping.keyNames.close },
] as const;

/** The list of keys. */
export function KeyHelp({ close }: { close: () => void }) {
  return (
    <InfoDialog title={t.keysTitle} closeText={t.close} close={close}>
      <dl className={style["keys"]}>
        {keyTable.map(({ keys, does }) => (
          <div key={keys.join()}>
            <dt>{does}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </InfoDialog>
  );
}
