package commands

var genericCommands = []Spec{}
