# Completion of rondo for bash.
_rondo() {
    local words= word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'run agent rehearse check graph eval runs show events history resume answer cancel fork replay sessions rm gc du export import init doctor version help' -- "$word"))
        return
    fi
    case $command:$before in
    help:help) words='run agent rehearse check graph eval runs show events history resume answer cancel fork replay sessions rm gc du export import init doctor version help' ;;
    run:--thinking) words='off low medium high max' ;;
    agent:--thinking) words='off low medium high max' ;;
    graph:--format) words='boxes tree dot mermaid svg' ;;
    resume:--thinking) words='off low medium high max' ;;
    init:--template) words='hello refine foreach' ;;
    help:--completion) words='bash zsh fish' ;;
    esac
    if [ -z "$words" ] && [ "${word:0:1}" = - ]; then
        case $command in
        run) words=' --json --quiet --verbose --plan --input --inputs --context --workdir --timeout --max-cost --max-tokens --max-concurrency --prompts --model --thinking --allow --deny --ask --strict --sandbox --yolo --network --local-network --approve-tools --prices --require-prices --max-turns --max-retries --answers --store --session --record --replay --notify --no-color --help' ;;
        agent) words=' --model --thinking --allow --deny --ask --strict --sandbox --yolo --network --local-network --approve-tools --prices --require-prices --system --tools --mcp --attach --project-notes --schema --max-turns --max-depth --max-retries --max-cost --max-tokens --timeout --workdir --json --quiet --verbose --prompts --store --session --no-color --help' ;;
        rehearse) words=' --json --quiet --verbose --plan --input --inputs --context --workdir --timeout --max-cost --max-tokens --max-concurrency --prompts --commands --script --answers --no-color --help' ;;
        check) words=' --schema --formats --json --no-color --help' ;;
        graph) words=' --format --open --run --store --width --no-color --help' ;;
        eval) words=' --data --run --at --store --no-color --help' ;;
        runs) words=' --status --name --session --since --limit --json --store --no-color --help' ;;
        show) words=' --json --store --no-color --help' ;;
        events) words=' --follow --json --verbose --path --type --store --no-color --help' ;;
        history) words=' --step --full --json --store --no-color --help' ;;
        resume) words=' --json --quiet --verbose --plan --migrate --workflow --answers --model --thinking --allow --deny --ask --strict --sandbox --yolo --network --local-network --approve-tools --prices --require-prices --workdir --timeout --max-cost --max-tokens --max-concurrency --prompts --notify --store --no-color --help' ;;
        answer) words=' --json --quiet --store --no-color --help' ;;
        cancel) words=' --json --quiet --store --no-color --help' ;;
        fork) words=' --at --input --inputs --set --quiet --store --no-color --help' ;;
        replay) words=' --quiet --store --no-color --help' ;;
        sessions) words=' --search --scope --limit --forget --yes --json --store --no-color --help' ;;
        rm) words=' --store --no-color --help' ;;
        gc) words=' --store --older --keep --dry-run --json --no-color --help' ;;
        du) words=' --store --json --no-color --help' ;;
        export) words=' --store --no-color --help' ;;
        import) words=' --store --no-color --help' ;;
        init) words=' --template --list --no-color --help' ;;
        doctor) words=' --json --no-color --help' ;;
        version) words=' --no-color --help' ;;
        help) words=' --completion --man --no-color --help' ;;
        esac
    fi
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    fi
}
complete -o bashdefault -o default -F _rondo rondo
