#compdef rondo
# Completion of rondo for zsh.
_rondo() {
    local -a commands
    commands=(
        'run:run a workflow'
        'agent:one model with tools, in this folder'
        'rehearse:run a workflow with made-up answers'
        'check:check workflow files, or values against a JSON Schema'
        'graph:draw the plan of a workflow'
        'eval:evaluate a CEL expression'
        'runs:list runs, newest first'
        'show:what came out of a run, or of one step'
        'events:what happened in a run'
        'history:a loop of a run, pass by pass'
        'resume:go on with a run'
        'answer:answer a gate of a run'
        'cancel:stop a run'
        'fork:branch a new run off another'
        'replay:carry a run out again against its recorded answers'
        'sessions:show, search or forget what runs share'
        'rm:remove runs from the store'
        'gc:give the space back that nothing needs any more'
        'du:say how much space the store takes, or runs in it'
        'export:write a run into a single file'
        'import:take runs in that rondo export wrote'
        'init:start a project: a workflow that runs without a model'
        'doctor:say what works on this host'
        'version:print the version'
        'help:say what there is, or more about one command'
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
    run)
        _arguments \
            '--json[every event as a line of JSON on stdout]' \
            '--quiet[say nothing but errors on stderr]' \
            '--verbose[say everything, what goes in and out too]' \
            '--plan[draw the workflow first]' \
            '*--input=[an input; @FILE is a file'\''s content]:NAME=VALUE:_files' \
            '--inputs=[all inputs, in YAML or JSON]:FILE:_files' \
            '--context=[text that every agent is shown]:TEXT:_files' \
            '--workdir=[where commands run]:DIR:_files' \
            '--timeout=[the run fails after this time]:TIME:_files' \
            '--max-cost=[stop when this is spent]:USD:_files' \
            '--max-tokens=[stop when these are used]:N:_files' \
            '--max-concurrency=[agents at a time, where the file does not say (5)]:N:_files' \
            '--prompts=[write every prompt to a file there]:DIR:_files' \
            '--model=[for all agents, whatever the file says]:MODEL:_files' \
            '--thinking=[how hard models think]:LEVEL:(off low medium high max)' \
            '--allow=[tools that models may call\: read, bash(git *)]:TOOLS:_files' \
            '--deny=[tools that they may not]:TOOLS:_files' \
            '--ask=[tools to ask for every time]:TOOLS:_files' \
            '--strict[refuse what is not allowed, ask nobody]' \
            '--sandbox[strict, with read, write, edit, glob and grep allowed, and no bash]' \
            '--yolo[allow every tool]' \
            '--network[commands that models choose may reach out]' \
            '--local-network[what models fetch may be on this machine and the networks around it]' \
            '--approve-tools[accept tools of servers that have changed]' \
            '--prices=[what models cost, beside the built-in table]:FILE:_files' \
            '--require-prices[refuse models of unknown price]' \
            '--max-turns=[answers of a model in one step]:N:_files' \
            '--max-retries=[tries more when a provider is not reached]:N:_files' \
            '--answers=[what gates are answered with]:FILE:_files' \
            '--store=[where the run is kept; \:memory\: is nowhere]:PATH:_files' \
            '--session=[share state and memory with its other runs]:NAME:_files' \
            '--record=[write down what agents and gates answer]:FILE:_files' \
            '--replay=[answer from such a recording, call no agent]:FILE:_files' \
            '--notify=[run this when the run has ended]:COMMAND:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    agent)
        _arguments \
            '--model=[for all agents, whatever the file says]:MODEL:_files' \
            '--thinking=[how hard models think]:LEVEL:(off low medium high max)' \
            '--allow=[tools that models may call\: read, bash(git *)]:TOOLS:_files' \
            '--deny=[tools that they may not]:TOOLS:_files' \
            '--ask=[tools to ask for every time]:TOOLS:_files' \
            '--strict[refuse what is not allowed, ask nobody]' \
            '--sandbox[strict, with read, write, edit, glob and grep allowed, and no bash]' \
            '--yolo[allow every tool]' \
            '--network[commands that models choose may reach out]' \
            '--local-network[what models fetch may be on this machine and the networks around it]' \
            '--approve-tools[accept tools of servers that have changed]' \
            '--prices=[what models cost, beside the built-in table]:FILE:_files' \
            '--require-prices[refuse models of unknown price]' \
            '--system=[who the agent is, instead of the usual text]:TEXT:_files' \
            '--tools=[the tools it has; all, unless this says otherwise]:NAMES:_files' \
            '--mcp=[servers with more tools (.mcp.json)]:FILE:_files' \
            '*--attach=[a file that it is shown, pictures too]:FILE:_files' \
            '--project-notes[show it the AGENTS.md of the folder]' \
            '--schema=[JSON Schema of the result, in YAML or JSON]:FILE:_files' \
            '--max-turns=[answers of the model (50)]:N:_files' \
            '--max-depth=[agents of its agents; 0\: none (3)]:N:_files' \
            '--max-retries=[tries more when a provider is not reached]:N:_files' \
            '--max-cost=[stop when this is spent]:USD:_files' \
            '--max-tokens=[stop when these are used]:N:_files' \
            '--timeout=[it fails after this time]:TIME:_files' \
            '--workdir=[the folder to work in]:DIR:_files' \
            '--json[every event as a line of JSON on stdout]' \
            '--quiet[say nothing but errors on stderr]' \
            '--verbose[say everything, what goes in and out too]' \
            '--prompts=[write the prompt to a file there]:DIR:_files' \
            '--store=[where the run is kept; \:memory\: is nowhere]:PATH:_files' \
            '--session=[share state and memory with its other runs]:NAME:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    rehearse)
        _arguments \
            '--json[every event as a line of JSON on stdout]' \
            '--quiet[say nothing but errors on stderr]' \
            '--verbose[say everything, what goes in and out too]' \
            '--plan[draw the workflow first]' \
            '*--input=[an input; @FILE is a file'\''s content]:NAME=VALUE:_files' \
            '--inputs=[all inputs, in YAML or JSON]:FILE:_files' \
            '--context=[text that every agent is shown]:TEXT:_files' \
            '--workdir=[where commands run]:DIR:_files' \
            '--timeout=[the run fails after this time]:TIME:_files' \
            '--max-cost=[stop when this is spent]:USD:_files' \
            '--max-tokens=[stop when these are used]:N:_files' \
            '--max-concurrency=[agents at a time, where the file does not say (5)]:N:_files' \
            '--prompts=[write every prompt to a file there]:DIR:_files' \
            '--commands[let commands run]' \
            '--script=[replies of steps, in YAML or JSON]:FILE:_files' \
            '--answers=[what gates are answered with]:FILE:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    check)
        _arguments \
            '--schema=[the files are JSON values\: check them by this JSON Schema]:FILE:_files' \
            '--formats[require texts to follow their `format`]' \
            '--json[answers as JSON objects on stdout, one a line]' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    graph)
        _arguments \
            '--format=[how to draw it]:FORMAT:(boxes tree dot mermaid svg)' \
            '--open[show what is in included files, too]' \
            '--run=[the plan of a stored run, coloured by what happened]:RUN:_files' \
            '--store=[the store to work on, instead of the project'\''s or the user'\''s own]:PATH:_files' \
            '--width=[as if the terminal were that wide]:COLUMNS:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    eval)
        _arguments \
            '--data=[a JSON object whose members are the variables; '\''-'\'' is standard input]:FILE:_files' \
            '--run=[a stored run\: what expressions of its workflow see in the end]:RUN:_files' \
            '--at=[inside a loop or group of that run, with its history, best, iteration]:PATH:_files' \
            '--store=[the store to work on, instead of the project'\''s or the user'\''s own]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    runs)
        _arguments \
            '--status=[only those, see above]:STATUS:_files' \
            '--name=[only runs of this workflow]:WORKFLOW:_files' \
            '--session=[only runs of this session]:NAME:_files' \
            '--since=[only those that started within this time]:TIME:_files' \
            '--limit=[at most so many (20); 0 is all]:N:_files' \
            '--json[a line of JSON for each]' \
            '--store=[the store to work on, instead of the project'\''s or the user'\''s own]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' ;;
    show)
        _arguments \
            '--json[as JSON]' \
            '--store=[where the run is kept]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    events)
        _arguments \
            '--follow[go on with what happens, until the run ends]' \
            '--json[as lines of JSON]' \
            '--verbose[every event, with what went in and out]' \
            '--path=[only of this step and what is in it]:PATH:_files' \
            '--type=[only events of this type, as step_end]:NAME:_files' \
            '--store=[where the run is kept]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    history)
        _arguments \
            '--step=[of this step of the body, not of the whole pass]:NAME:_files' \
            '--full[every pass in full, not what changed]' \
            '--json[a line of JSON for each pass]' \
            '--store=[where the run is kept]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    resume)
        _arguments \
            '--json[every new event as a line of JSON on stdout]' \
            '--quiet[say nothing but errors on stderr]' \
            '--verbose[say everything, what goes in and out too]' \
            '--plan[draw the workflow first]' \
            '--migrate[move to the workflow as its file is now]' \
            '--workflow=[that file, when it is not where it was]:FILE:_files' \
            '--answers=[what gates are answered with]:FILE:_files' \
            '--model=[for all agents, whatever the file says]:MODEL:_files' \
            '--thinking=[how hard models think]:LEVEL:(off low medium high max)' \
            '--allow=[tools that models may call\: read, bash(git *)]:TOOLS:_files' \
            '--deny=[tools that they may not]:TOOLS:_files' \
            '--ask=[tools to ask for every time]:TOOLS:_files' \
            '--strict[refuse what is not allowed, ask nobody]' \
            '--sandbox[strict, with read, write, edit, glob and grep allowed, and no bash]' \
            '--yolo[allow every tool]' \
            '--network[commands that models choose may reach out]' \
            '--local-network[what models fetch may be on this machine and the networks around it]' \
            '--approve-tools[accept tools of servers that have changed]' \
            '--prices=[what models cost, beside the built-in table]:FILE:_files' \
            '--require-prices[refuse models of unknown price]' \
            '--workdir=[where commands run]:DIR:_files' \
            '--timeout=[the run fails after this time]:TIME:_files' \
            '--max-cost=[stop when this is spent]:USD:_files' \
            '--max-tokens=[stop when these are used]:N:_files' \
            '--max-concurrency=[agents at a time, where the file does not say (5)]:N:_files' \
            '--prompts=[write every prompt to a file there]:DIR:_files' \
            '--notify=[run this when the run has ended]:COMMAND:_files' \
            '--store=[where the run is kept]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    answer)
        _arguments \
            '--json[the list of open questions as JSON]' \
            '--quiet[say nothing but errors on stderr]' \
            '--store=[where the run is kept]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    cancel)
        _arguments \
            '--json[every new event as a line of JSON on stdout]' \
            '--quiet[say nothing but errors on stderr]' \
            '--store=[where the run is kept]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    fork)
        _arguments \
            '--at=[what is to be started anew, as '\''refine.2'\'' or '\''publish'\'']:PATH:_files' \
            '*--input=[another input; @FILE is a file'\''s content]:NAME=VALUE:_files' \
            '--inputs=[other inputs, in YAML or JSON]:FILE:_files' \
            '*--set=[another value in the state]:state.NAME=VALUE:_files' \
            '--quiet[say nothing but the new run'\''s id]' \
            '--store=[where the run is kept]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    replay)
        _arguments \
            '--quiet[say nothing but differences]' \
            '--store=[where the run is kept]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    sessions)
        _arguments \
            '--search=[memory that has all these words; "..." is a phrase]:TEXT:_files' \
            '--scope=[only this memory]:SCOPE:_files' \
            '--limit=[how many results (20)]:N:_files' \
            '--forget[remove the session, or with --scope one memory]' \
            '--yes[do not ask before forgetting]' \
            '--json[all of it as JSON]' \
            '--store=[the store to work on, instead of the project'\''s or the user'\''s own]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    rm)
        _arguments \
            '--store=[the store to work on, instead of the project'\''s or the user'\''s own]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    gc)
        _arguments \
            '--store=[the store to work on, instead of the project'\''s or the user'\''s own]:PATH:_files' \
            '--older=[remove runs that ended longer ago than this\: 30d, 12h]:TIME:_files' \
            '--keep=[remove runs that ended, but for the newest N of all runs]:N:_files' \
            '--dry-run[only say which runs would be removed]' \
            '--json[say it as one JSON object]' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' ;;
    du)
        _arguments \
            '--store=[the store to work on, instead of the project'\''s or the user'\''s own]:PATH:_files' \
            '--json[bytes, as a JSON object each]' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    export)
        _arguments \
            '--store=[the store to work on, instead of the project'\''s or the user'\''s own]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    import)
        _arguments \
            '--store=[the store to work on, instead of the project'\''s or the user'\''s own]:PATH:_files' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    init)
        _arguments \
            '--template=[which workflow to begin with]:NAME:(hello refine foreach)' \
            '--list[list the templates]' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '*:file:_files' ;;
    doctor)
        _arguments \
            '--json[the same as one JSON object]' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' ;;
    version)
        _arguments \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' ;;
    help)
        _arguments \
            '--completion=[print a completion script for]:SHELL:(bash zsh fish)' \
            '--man[print the part of the manual page that lists the commands]' \
            '--no-color[no colours, also on a terminal (as NO_COLOR=1 does)]' \
            '--help[this text]' \
            '1:command:(run agent rehearse check graph eval runs show events history resume answer cancel fork replay sessions rm gc du export import init doctor version help)' ;;
    esac
}
if [ "$funcstack[1]" = _rondo ]; then _rondo "$@"; else compdef _rondo rondo; fi
